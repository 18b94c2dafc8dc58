/** The shared store: PostgreSQL, for any number of nodes. */
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely'
import pg from 'pg'
import type { Storage } from '../contracts/index.js'
import type { AuditOptions } from '../sql/audit.js'
import { plugins, type SqlDialect } from '../sql/database.js'
import { type Migrated, migrate } from '../sql/migrations/index.js'
import { createSqlStorage } from '../sql/storage.js'
import type { Database, Tables } from '../sql/tables.js'

/** How long to wait for another process that is migrating. */
const migrationMs = 120_000

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const codes = { uniqueViolation: '23505', serializationFailure: '40001', deadlockDetected: '40P01' }
const has = (error: unknown, ...wanted: string[]) =>
  error instanceof pg.DatabaseError && wanted.includes(error.code ?? '')

export const postgres: SqlDialect = {
  columns: {
    text: sql<string>`text collate "C"`,
    bytes: 'bytea',
    counter: 'bigserial',
    countsUp: (column) => column.primaryKey()
  },
  isConflict: (error) => has(error, codes.uniqueViolation),
  isVictim: (error) => has(error, codes.serializationFailure, codes.deadlockDetected),
  async scrub() {},
  async settle() {},
  async waitTurn(transaction, name) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`sluicegate ${name}`}, 0))`.execute(transaction)
  }
}

export async function openPostgres(url: string, auditing: AuditOptions, waits?: Waits): Promise<Storage> {
  return createSqlStorage((await connectPostgres(url, waits)).db, postgres, auditing)
}

/**
 * Connects and brings the tables to the newest form.
 * @throws an Error that names the server, never its password, where it cannot be reached or is newer than this program
 */
export async function connectPostgres(url: string, waits?: Waits): Promise<Migrated> {
  const connect = (more?: Waits): Database =>
    new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openPool(url, { ...waits, ...more }) }), plugins })
  const migrating = connect({ queryMs: migrationMs })
  try {
    return { migrations: await migrate(migrating, postgres.columns), db: connect() }
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw new Error(`The database ${shown(url)} cannot be opened: ${reasonOf(cause)}`, { cause: error })
  } finally {
    await migrating.destroy()
  }
}

/** The server's address without user and password. */
function shown(url: string): string {
  const { host, pathname } = new URL(url)
  return `postgres://${host}${pathname}`
}

/** Node has no message for a name whose every address refused. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}

/** Connections of one process. A server allows 100 by default, and requests should wait here rather than there. */
const maxConnections = 10
/** Time-outs after which the server counts as down, ms. */
export interface Waits {
  /** For a connection, including the wait for a free one of the pool. */
  connectMs?: number
  /** For one query. The default exceeds every query here. */
  queryMs?: number
}
const int8 = 20

export function openPool(url: string, { connectMs = 3_000, queryMs = 5_000 }: Waits = {}): PostgresPool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'sluicegate',
    max: maxConnections,
    connectionTimeoutMillis: connectMs,
    query_timeout: queryMs,
    keepAlive: true,
    types: {
      // Times, counts and sequence numbers: whole numbers that a double holds exactly.
      getTypeParser: ((oid: number, format: 'text' | 'binary') =>
        oid === int8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format as 'text')) as never
    }
  })
  // An idle connection broke: the pool has dropped it, and the next query opens another.
  pool.on('error', () => {})
  // A connection that breaks while the pool passes it on: the server's last message may arrive together with its
  // readiness, before the waiting caller has the connection. The first query then fails.
  pool.on('connect', (client) => client.on('error', () => {}))
  return { connect: async () => watched(await pool.connect()), end: () => pool.end() }
}

/** Closes a client, instead of returning it to the pool, after a query that failed without a server message. */
function watched(client: pg.PoolClient): PostgresPoolClient {
  let broken: Error | undefined
  // Between two queries of a transaction only this listener gets the connection's error; an unhandled one would end the
  // process.
  const breaks = (error: Error) => {
    broken ??= error
  }
  client.on('error', breaks)
  const query = async (text: string, values: readonly unknown[]) => {
    // Refused, since a further query (usually a rollback) would wait behind one that is never answered.
    if (broken !== undefined) throw broken
    try {
      return await client.query(text, values as unknown[])
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) broken = error as Error
      throw error
    }
  }
  const release = () => {
    client.off('error', breaks)
    client.release(broken)
  }
  return { query: query as unknown as PostgresPoolClient['query'], release }
}
