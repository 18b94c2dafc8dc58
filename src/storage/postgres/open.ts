/** The shared store: PostgreSQL, for any number of nodes. */
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import type { Storage } from '../contracts/index.js'
import type { AuditOptions } from '../sql/audit.js'
import type { SqlDialect } from '../sql/dialect.js'
import { type Migrated, migrate } from '../sql/migrate.js'
import { createSqlStorage } from '../sql/storage.js'
import type { Database, Tables } from '../sql/tables.js'
import { openPool } from './pool.js'

/** Another process may be migrating: this one waits for it. */
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
  async waitTurn(transaction, name) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`sluicegate ${name}`}, 0))`.execute(transaction)
  }
}

export async function openPostgres(url: string, auditing: AuditOptions): Promise<Storage> {
  return createSqlStorage((await connectPostgres(url)).db, postgres, auditing)
}

/**
 * Connects and brings the tables to the newest form.
 * @throws an Error that names the server, never its password, where it cannot be reached or is newer than this program
 */
export async function connectPostgres(url: string): Promise<Migrated> {
  const connect = (timeoutMs?: number): Database =>
    new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openPool(url, timeoutMs) }) })
  const migrating = connect(migrationMs)
  try {
    return { migrations: await migrate(migrating, postgres.columns), db: connect() }
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw new Error(`The database ${shown(url)} cannot be opened: ${reasonOf(cause)}`, { cause: error })
  } finally {
    await migrating.destroy()
  }
}

/** Where it is, without who comes and by which password. */
function shown(url: string): string {
  const { host, pathname } = new URL(url)
  return `postgres://${host}${pathname}`
}

/** Node has no message for a name whose every address refused. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
