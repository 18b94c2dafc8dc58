/** Opens a storage from its URL; also migrates, copies, backs up and restores one. */
import { existsSync } from 'node:fs'
import type { Storage } from './contracts/index.js'
import type { JournalLog } from './journal/queue.js'
import { prepareFolder, type SpoolOptions } from './journal/spool.js'
import type { Waits } from './postgres/open.js'
import type { AuditOptions } from './sql/audit.js'
import { type Copied, copyRows } from './sql/copy.js'
import { backupFile, type Checked, isInUse, restoreFile } from './sqlite/backup.js'
import { connectSqlite, openMemory, openSqlite } from './sqlite/open.js'

export interface OpenOptions {
  /** `sqlite:<path>`, `postgres://…`, or `memory:` for a storage that ends with the process. */
  url: string
  /** Names the chain of the audit that is written through this storage. */
  node?: string
  /** The spool on disk for audit and usage while the storage fails. Default: only memory. */
  spool?: SpoolOptions | undefined
  /** Time-outs for PostgreSQL, ms; on a busy machine even a healthy server takes longer. */
  waits?: Waits | undefined
  /** Log for audit rows that could not be committed yet (a pino logger fits). */
  log?: JournalLog | undefined
}

/** Loaded only where used: the embedded store does not need the client's memory. */
const postgres = () => import('./postgres/open.js')

/** @throws an Error in words that an operator can act on */
export async function openStorage({ url, node = 'local', spool, waits, log }: OpenOptions): Promise<Storage> {
  const auditing: AuditOptions = { node, spool: usable(spool, log), log }
  if (url === 'memory:') return openMemory(node)
  if (isPostgres(url)) return (await postgres()).openPostgres(url, auditing, waits)
  return openSqlite(sqlitePath(url), auditing)
}

function usable(spool: SpoolOptions | undefined, log: JournalLog | undefined): SpoolOptions | undefined {
  if (spool === undefined) return undefined
  try {
    prepareFolder(spool)
    return spool
  } catch (error) {
    log?.error({ err: error }, 'there is no spool: audit and usage wait in memory while the storage does not take them')
    return undefined
  }
}

/** Creates the tables or migrates them to the newest form. @returns the names of the migrations */
export async function migrateStorage(url: string): Promise<string[]> {
  const { db, migrations } = isPostgres(url)
    ? await (await postgres()).connectPostgres(url)
    : await connectSqlite(sqlitePath(url))
  await db.destroy()
  return migrations
}

/**
 * Copies an embedded store into a new file, while processes use it.
 * @throws an Error where the storage is on a server, or the file cannot be created or differs from the source
 */
export function backupStorage(url: string, file: string): Promise<Checked> {
  return backupFile(existing(url), file)
}

/**
 * Restores a backup as an embedded store that no process uses.
 * @param replace moves an existing store aside
 * @returns its new place
 */
export function restoreStorage(
  url: string,
  file: string,
  replace: boolean
): Promise<{ checked: Checked; aside: string | undefined }> {
  return restoreFile(file, sqlitePath(url), replace)
}

/** Whether any process has the file of an embedded store open. */
export function isStorageInUse(url: string): boolean {
  return isInUse(existing(url))
}

/** As `openStorage`, for what reads or checks: an embedded store that does not exist is an error, and is not created. */
export async function openExistingStorage(options: OpenOptions): Promise<Storage> {
  if (options.url.startsWith('sqlite:')) existing(options.url)
  return openStorage(options)
}

/** Checked, since opening would create a missing file. */
function existing(url: string): string {
  const path = sqlitePath(url)
  if (!existsSync(path)) throw new Error(`there is no file ${path}`)
  return path
}

/** @throws an Error where the one is no SQLite, the other no PostgreSQL, or the other holds anything already */
export async function copyStorage(from: string, to: string): Promise<Copied[]> {
  if (!from.startsWith('sqlite:') || !isPostgres(to))
    throw new Error('only sqlite: can be moved, and only to postgres:')
  const source = await connectSqlite(existing(from))
  try {
    const target = await (await postgres()).connectPostgres(to)
    try {
      return await copyRows(source.db, target.db)
    } finally {
      await target.db.destroy()
    }
  } finally {
    await source.db.destroy()
  }
}

function isPostgres(url: string): boolean {
  return /^postgres(ql)?:/.test(url)
}

function sqlitePath(url: string): string {
  if (!url.startsWith('sqlite:')) {
    // Only the scheme is named: a URL may hold a password.
    const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? 'no scheme'
    throw new Error(`storage.url: must begin with sqlite: or postgres:, or be memory: (found ${scheme})`)
  }
  // `sqlite:///var/x.db`, as other tools write it, means the same file as `sqlite:/var/x.db`.
  const path = url.slice('sqlite:'.length).replace(/^\/\//, '')
  if (path === '' || path === ':memory:') {
    throw new Error('storage.url: sqlite: needs the path of a file; memory: keeps nothing')
  }
  return path
}
