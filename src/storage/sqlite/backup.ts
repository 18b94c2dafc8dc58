/** Backups of the embedded store: made while others write, verified, and restored. */
import { chmodSync, closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { backup, DatabaseSync } from '@photostructure/sqlite'
import { makeFolder } from '../../base/folder.js'
import type { Copied } from '../sql/copy.js'
import { migrations } from '../sql/migrations/index.js'

type Connection = InstanceType<typeof DatabaseSync>

/** Tables of short-lived rows: a restored backup must not revive an ended sign-in or a used link. */
const momentary = ['user_sessions', 'invitations', 'processes'] as const

/** Tables that no backup contains: their rows would outlive their retention. */
const withheld = ['samples', 'sample_totals'] as const

export interface Checked {
  tables: Copied[]
  /** Ids of the data keys that its texts are sealed with; empty where an earlier version wrote it. */
  dataKeys: string[]
}

/**
 * Copies the committed state of one moment into a new file, which is moved into place after verification. Samples are
 * left out.
 * @throws an Error where the file exists, or the copy differs from the source
 */
export async function backupFile(path: string, file: string): Promise<Checked> {
  if (existsSync(file)) throw new Error(`${file} is there already: a backup takes the place of no other file`)
  const source = open(path)
  try {
    // A read transaction: a consistent snapshot that does not block writers.
    source.exec('begin')
    const tables = countsOf(source)
    await copy(
      source,
      file,
      (copied) => {
        if (JSON.stringify(copied.tables) !== JSON.stringify(tables))
          throw new Error(`${file} does not hold what was read`)
      },
      withoutSamples
    )
    source.exec('commit')
    const isWithheld = (table: string) => (withheld as readonly string[]).includes(table)
    const kept = tables.map(({ table, rows }) => ({ table, rows: isWithheld(table) ? 0 : rows }))
    return { tables: kept, dataKeys: keysOf(source) }
  } finally {
    source.close()
  }
}

/** @throws an Error where the file is damaged, no store of this program, or newer than it */
export function checkFile(file: string): Checked {
  if (!existsSync(file)) throw new Error(`there is no file ${file}`)
  const db = open(file)
  try {
    return check(db, file)
  } finally {
    db.close()
  }
}

/**
 * Restores a verified backup as a store that no process has open.
 * @param replace moves an existing store aside instead of refusing
 * @returns the new place of the old store
 */
export async function restoreFile(
  file: string,
  path: string,
  replace: boolean
): Promise<{ checked: Checked; aside: string | undefined }> {
  makeFolder(dirname(path))
  const isThere = existsSync(path)
  const hold = isThere ? holdAlone(path) : undefined
  if (isThere && hold === undefined) throw new Error(`${path} is in use: stop every process that has it open`)
  const source = open(file)
  try {
    const checked = check(source, file)
    const rows =
      hold === undefined ? 0 : countsOf(hold).reduce((sum, { table, rows }) => sum + (table === 'keys' ? rows : 0), 0)
    if (rows > 0 && !replace) throw new Error(`${path} holds a store already: --replace puts it aside`)
    const aside = isThere
      ? `${path}.before-restore-${new Date().toISOString().replace(/\D/g, '').slice(0, 14)}`
      : undefined
    const fresh = `${path}.restored`
    rmSync(fresh, { force: true })
    await copy(
      source,
      fresh,
      () => {},
      (db) => {
        for (const table of momentary) db.exec(`delete from ${table}`)
        // For a copy that was not made by `backup`.
        withoutSamples(db)
      }
    )
    if (hold !== undefined) {
      // The store that is moved aside is a copy too, so its samples are removed.
      hold.exec('pragma secure_delete = on')
      withoutSamples(hold)
      hold.exec('commit')
    }
    if (aside !== undefined) renameSync(path, aside)
    // Log files of the old store, whose file is complete: beside the new database they would be taken for its own.
    for (const name of besides(path)) rmSync(name, { force: true })
    renameSync(fresh, path)
    sync(dirname(path))
    return { checked, aside }
  } finally {
    source.close()
    hold?.close()
  }
}

function withoutSamples(db: Connection): void {
  // A store of an earlier version lacks them.
  for (const table of withheld) if (has(db, table)) db.exec(`delete from ${table}`)
}

/** Whether any process, this one too, has the database open. */
export function isInUse(path: string): boolean {
  const hold = holdAlone(path)
  hold?.close()
  return hold === undefined
}

/**
 * Opens a database exclusively; undefined where another process has it open. Leaving WAL mode needs exclusive access.
 */
function holdAlone(path: string): Connection | undefined {
  const db = open(path)
  try {
    // Merges the log into the file, and removes the log files.
    db.exec('pragma journal_mode = delete')
    db.exec('begin exclusive')
    return db
  } catch (error) {
    db.close()
    if (error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5) return undefined
    throw error
  }
}

/** @param change changes the copy */
async function copy(
  source: Connection,
  file: string,
  compare: (copied: Checked) => void,
  change?: (db: Connection) => void
): Promise<void> {
  const partial = `${file}.partial`
  rmSync(partial, { force: true })
  try {
    closeSync(openSync(partial, 'ax', 0o600))
    await backup(source, partial, { rate: -1 })
    const db = open(partial)
    try {
      // One file, without a log file.
      db.exec('pragma journal_mode = delete')
      db.exec('pragma secure_delete = on')
      compare(check(db, file))
      change?.(db)
    } finally {
      db.close()
    }
    chmodSync(partial, 0o600)
    sync(partial)
    renameSync(partial, file)
    sync(dirname(file))
  } finally {
    for (const name of [partial, ...besides(partial)]) rmSync(name, { force: true })
  }
}

function check(db: Connection, file: string): Checked {
  const name = basename(file)
  let problems: string[]
  try {
    problems = all<{ integrity_check: string }>(db, 'pragma integrity_check').map((row) => row.integrity_check)
  } catch (error) {
    throw new Error(`${name} is damaged, or no database: ${error instanceof Error ? error.message : error}`, {
      cause: error
    })
  }
  if (problems.join() !== 'ok') throw new Error(`${name} is damaged: ${problems.slice(0, 3).join('; ')}`)
  const lost = all<{ table: string }>(db, 'pragma foreign_key_check')
  if (lost.length > 0) throw new Error(`${name} is damaged: rows of ${lost[0]!.table} refer to rows that are not there`)
  if (!has(db, 'kysely_migration')) throw new Error(`${name} is no store of this program`)
  for (const row of all<{ name: string }>(db, 'select name from kysely_migration')) {
    if (!(row.name in migrations)) throw new Error(`${name} is of a newer version than this one (${row.name})`)
  }
  return { tables: countsOf(db), dataKeys: keysOf(db) }
}

function countsOf(db: Connection): Copied[] {
  return tablesOf(db).map((table) => ({
    table,
    rows: all<{ rows: number }>(db, `select count(*) as rows from "${table}"`)[0]!.rows
  }))
}

function keysOf(db: Connection): string[] {
  return has(db, 'data_keys')
    ? all<{ key_id: string }>(db, 'select key_id from data_keys').map((row) => row.key_id)
    : []
}

const has = (db: Connection, table: string) => tablesOf(db, true).includes(table)

function tablesOf(db: Connection, own = false): string[] {
  return all<{ name: string }>(db, "select name from sqlite_master where type = 'table' order by name")
    .map(({ name }) => name)
    .filter((name) => own || !/^(?:sqlite_|kysely_)/.test(name))
}

function all<Row>(db: Connection, text: string): Row[] {
  return db.prepare(text).all() as Row[]
}

function open(path: string): Connection {
  const db = new DatabaseSync(path, { timeout: 1_000 })
  // A doctored file cannot run functions through its schema.
  db.exec('pragma trusted_schema = off')
  return db
}

const besides = (path: string) => ['journal', 'wal', 'shm'].map((name) => `${path}-${name}`)

function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
