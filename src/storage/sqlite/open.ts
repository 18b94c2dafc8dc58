/** The embedded store: one SQLite file, no service to run. */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { Kysely } from 'kysely'
import type { Storage } from '../contracts.js'
import { openSqlStorage } from '../sql/storage.js'
import type { Tables } from '../sql/tables.js'
import { embeddedDialect } from './dialect.js'

/**
 * How long a write waits for another process's lock. It waits on the event loop, so the bound is short: the writes of
 * the command line beside a running server take milliseconds.
 */
const busyTimeoutMs = 1000

/** SQLITE_CONSTRAINT_PRIMARYKEY and SQLITE_CONSTRAINT_UNIQUE, https://sqlite.org/rescode.html */
const conflictCodes = new Set([1555, 2067])

function isConflict(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && conflictCodes.has(Number(error.errcode))
}

function openFile(path: string): InstanceType<typeof DatabaseSync> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // SQLite would create the file with the umask's mode; its -wal and -shm files take the mode of this one.
  closeSync(openSync(path, 'a', 0o600))
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true })
  try {
    // WAL: readers never wait for a writer. FULL: a commit is on the disk before it is acknowledged, also through a
    // power cut (NORMAL is not, in WAL). trusted_schema=OFF: a doctored file cannot run functions through its schema.
    db.exec('pragma journal_mode = wal')
    db.exec('pragma synchronous = full')
    db.exec('pragma trusted_schema = off')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** @throws an Error that names the file where it cannot be opened, is no database, or is newer than this program */
export async function openSqlite(path: string, onAuditFailure: (error: unknown) => void): Promise<Storage> {
  let kysely: Kysely<Tables> | undefined
  try {
    kysely = new Kysely<Tables>({ dialect: embeddedDialect(openFile(path)) })
    return await openSqlStorage(kysely, {
      columns: { bytes: 'blob', counter: 'integer' },
      isConflict,
      onAuditFailure
    })
  } catch (error) {
    await kysely?.destroy()
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`The database ${path} cannot be opened: ${reason}`, { cause: error })
  }
}
