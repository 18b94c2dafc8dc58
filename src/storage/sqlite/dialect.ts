/** Kysely's SQLite dialect over the API of `node:sqlite`, which differs from the better-sqlite3 that Kysely expects. */

import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseSync, StatementSyncInstance } from '@photostructure/sqlite'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqliteStatement
} from 'kysely'

type Values = Parameters<StatementSyncInstance['all']>

/** The queries of this program are few and fixed; the bound is for lists of varying length. */
const maxStatements = 200

/** The driver truncates a text at its first U+0000. Such a text is refused here, as PostgreSQL does. */
const endsEarly = (value: unknown) => typeof value === 'string' && value.includes('\0')

function adapt(db: InstanceType<typeof DatabaseSync>): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>()

  function prepare(text: string): SqliteStatement {
    const statement = db.prepare(text)
    const values = (parameters: readonly unknown[]) => {
      if (parameters.some(endsEarly)) throw new Error('a text with U+0000 cannot be stored or looked for')
      return parameters as Values
    }
    return {
      // A statement that returns columns is read, whether it is a select or an insert … returning.
      reader: statement.columns().length > 0,
      all: (parameters) => statement.all(...values(parameters)),
      run: (parameters) => statement.run(...values(parameters)),
      iterate: (parameters) => statement.iterate(...values(parameters)) as IterableIterator<unknown>
    }
  }

  return {
    prepare(text) {
      let statement = statements.get(text)
      if (!statement) {
        statement = prepare(text)
        if (statements.size >= maxStatements) statements.clear()
        statements.set(text, statement)
      }
      return statement
    },
    close() {
      statements.clear()
      db.close()
    }
  }
}

/**
 * A transaction takes the write lock when it begins: one that reads first and writes later would else fail at the write
 * whenever another process wrote in between (SQLITE_BUSY_SNAPSHOT), and no waiting helps there.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #db: InstanceType<typeof DatabaseSync>

  constructor(db: InstanceType<typeof DatabaseSync>) {
    super({ database: adapt(db) })
    this.#db = db
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await whileBusy(() => connection.executeQuery(CompiledQuery.raw('begin immediate')))
  }

  /** Without room SQLite rolls back by itself. A second rollback fails, and its error would hide the cause. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#db.isTransaction) await super.rollbackTransaction(connection)
  }
}

/** SQLite does have transactional DDL: with it and the immediate lock, two processes that start at once migrate once. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

export function embeddedDialect(db: InstanceType<typeof DatabaseSync>): Dialect {
  return {
    createDriver: (): Driver => new ImmediateDriver(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new TransactionalAdapter(),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely)
  }
}

/** How long SQLite itself waits for a lock, which blocks the loop: enough for a usual commit of another process. */
export const blockingWaitMs = 20
/** How long a write waits in all. The command line beside a running server takes milliseconds. */
const patienceMs = 1000
const pauseMs = 10

/** SQLITE_BUSY and its extended codes, https://sqlite.org/rescode.html; also where a store wrapped the driver's error. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('errcode' in error) return (Number(error.errcode) & 0xff) === 5
  return isBusy(error.cause)
}

/** Repeats work while it fails on the lock without a change, until it succeeds or time is up. */
export async function whileBusy<T>(work: () => T | Promise<T>): Promise<T> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
      await delay(pauseMs)
    }
  }
}
