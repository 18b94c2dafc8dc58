/** The embedded store: one SQLite file, no service to run. */
import { closeSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { Kysely, sql } from 'kysely'
import { makeFolder } from '../../base/folder.js'
import type { Storage } from '../contracts/index.js'
import type { AuditOptions } from '../sql/audit.js'
import { plugins, type SqlDialect } from '../sql/database.js'
import { type Migrated, migrate } from '../sql/migrations/index.js'
import { createSqlStorage } from '../sql/storage.js'
import type { Tables } from '../sql/tables.js'
import { createAside } from './aside.js'
import { blockingWaitMs, embeddedDialect, whileBusy } from './dialect.js'

/** SQLITE_CONSTRAINT_PRIMARYKEY and SQLITE_CONSTRAINT_UNIQUE, https://sqlite.org/rescode.html */
const conflictCodes = new Set([1555, 2067])

/** Readers and writers of other processes hold the log for milliseconds. */
const scrubTries = 50
const scrubPauseMs = 100

export const sqlite: SqlDialect = {
  columns: {
    text: 'text',
    bytes: 'blob',
    counter: 'integer',
    countsUp: (column) => column.primaryKey().autoIncrement()
  },
  isConflict: (error) => error instanceof Error && 'errcode' in error && conflictCodes.has(Number(error.errcode)),
  isVictim: () => false,
  async scrub(db) {
    // The pages that were deleted from are zeroed (`secure_delete`); those of before stand in the log until it is cut off.
    for (let tries = 1; ; tries++) {
      const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(db)
      if (rows[0]?.busy === 0) return
      if (tries === scrubTries) throw new Error('other processes use the log of the database: it is not cut off')
      await delay(scrubPauseMs)
    }
  },
  async settle(db) {
    // Statements that are not collected yet keep the driver's connection half open, and SQLite then leaves the log for a
    // next start. Where another process has the database open it is that one's to do.
    await sql`pragma wal_checkpoint(truncate)`.execute(db)
  },
  // A transaction takes the write lock when it begins (`dialect.ts`): they are one at a time already.
  async waitTurn() {}
}

function openFile(path: string): InstanceType<typeof DatabaseSync> {
  makeFolder(dirname(path))
  // SQLite would create the file with the umask's mode; its -wal and -shm files take the mode of this one.
  closeSync(openSync(path, 'a', 0o600))
  const db = new DatabaseSync(path, { timeout: blockingWaitMs, enableForeignKeyConstraints: true })
  try {
    // WAL: readers never wait for a writer. FULL: a commit is on the disk before it is acknowledged, also through a
    // power cut (NORMAL is not, in WAL). trusted_schema=OFF: a doctored file cannot run functions through its schema.
    db.exec('pragma journal_mode = wal')
    db.exec('pragma synchronous = full')
    db.exec('pragma trusted_schema = off')
    // What is deleted is overwritten: a sealed text must not be left to whoever has the file and the data key.
    db.exec('pragma secure_delete = on')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Rows of the audit that a storage in memory keeps: enough to look back on in a test or a demonstration. */
const keptInMemory = 10_000

/**
 * A storage that ends with the process: the tables of the file, in memory. Nothing of it is written to a disk.
 * @param node names its chain of the audit
 */
export async function openMemory(node = 'memory'): Promise<Storage> {
  const connection = new DatabaseSync(':memory:', { enableForeignKeyConstraints: true })
  const db = new Kysely<Tables>({ dialect: embeddedDialect(connection), plugins })
  await migrate(db, sqlite.columns)
  // There is no log to cut off.
  return createSqlStorage(db, { ...sqlite, async scrub() {} }, { node, keep: keptInMemory })
}

export async function openSqlite(path: string, auditing: AuditOptions): Promise<Storage> {
  return createSqlStorage((await connectSqlite(path)).db, sqlite, {
    ...auditing,
    aside: createAside(path, auditing.log)
  })
}

/**
 * Opens the file and brings its tables to the newest form.
 * @throws an Error that names the file where it cannot be opened, is no database, or is newer than this program
 */
export async function connectSqlite(path: string): Promise<Migrated> {
  let kysely: Kysely<Tables> | undefined
  try {
    // Others may be starting on the same new file: turning to WAL and creating tables take the lock too.
    const db = new Kysely<Tables>({ dialect: embeddedDialect(await whileBusy(() => openFile(path))), plugins })
    kysely = db
    return { migrations: await whileBusy(() => migrate(db, sqlite.columns)), db }
  } catch (error) {
    await kysely?.destroy()
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(
      `The database ${path} cannot be opened: ${reason} (storage.url or SLUICEGATE_DATABASE_URL names it, else it lies in SLUICEGATE_DATA_DIR)`,
      { cause: error }
    )
  }
}
