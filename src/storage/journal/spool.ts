/**
 * The spool: groups of the journal wait here while the storage fails. It is a small SQLite file of this process, so
 * that half-written groups of a crash are detected, and its size is bounded. The file is locked while the process
 * lives: one that can be opened is abandoned, and the next process that starts stores its content.
 */
import { randomUUID } from 'node:crypto'
import { accessSync, closeSync, constants, fsyncSync, openSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { makeFolder } from '../../base/folder.js'
import type { Group } from './queue.js'

export interface SpoolOptions {
  /** Created if missing. */
  folder: string
  /** Limit of one process's file; a group that does not fit is refused. */
  maxBytes: number
}

const suffix = '.spool'
const pageBytes = 4096

export interface Spool {
  /** On return the group is on disk. @throws without room or disk */
  push(group: Group): void
  /** The oldest group, without removing it. */
  first(): Group | undefined
  /** Takes out all up to a number. */
  remove(through: number): void
  /** Rows of the audit in it. */
  readonly rows: number
  readonly isEmpty: boolean
  /** Content stays for the next start; an empty file is removed. */
  close(): void
}

/** @throws an Error where files cannot be made in it */
export function prepareFolder({ folder }: SpoolOptions): void {
  makeFolder(folder)
  accessSync(folder, constants.W_OK | constants.X_OK)
}

export function createSpool({ folder, maxBytes }: SpoolOptions): Spool {
  const path = join(folder, randomUUID() + suffix)
  // SQLite would create the file with the umask's mode. The folder's entry has to outlive a power cut too.
  closeSync(openSync(path, 'ax', 0o600))
  try {
    const directory = openSync(folder, 'r')
    fsyncSync(directory)
    closeSync(directory)
    return openSpool(path, maxBytes)
  } catch (error) {
    // The journal tries again with the next rows, under another name.
    removeFiles(path)
    throw error
  }
}

function removeFiles(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
}

/** The spools of dead processes, oldest first, each locked. */
function abandoned({ folder, maxBytes }: SpoolOptions): Spool[] {
  const left: { spool: Spool; at: number }[] = []
  for (const name of readdirSync(folder).filter((name) => name.endsWith(suffix))) {
    try {
      const spool = openSpool(join(folder, name), maxBytes)
      left.push({ spool, at: spool.first()?.rows[0]?.at ?? 0 })
    } catch {
      // Its process lives, or it is not a spool, which must not be deleted.
    }
  }
  return left.sort((a, b) => a.at - b.at).map(({ spool }) => spool)
}

/**
 * Stores the spools of dead processes. Groups that the storage refuses stay for the next start.
 * @param forget called with a finished journal
 * @returns the number of stored audit rows
 */
export async function adopt(
  options: SpoolOptions,
  store: (group: Group) => Promise<void>,
  forget: (journal: string) => Promise<void>
): Promise<number> {
  const spools = abandoned(options)
  let rows = 0
  try {
    for (const spool of spools) {
      let journal: string | undefined
      for (let group = spool.first(); group !== undefined; group = spool.first()) {
        await store(group)
        spool.remove(group.number)
        rows += group.rows.length
        journal = group.journal
      }
      if (journal !== undefined) await forget(journal)
    }
    return rows
  } finally {
    for (const spool of spools) spool.close()
  }
}

function openSpool(path: string, maxBytes: number): Spool {
  // Never by a descriptor of our own: closing it would end the locks that this process holds on the file.
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    // Exclusive: the lock is held from the first access to the end of the process, however it ends.
    db.exec('pragma locking_mode = exclusive')
    db.exec('pragma journal_mode = wal')
    db.exec('pragma synchronous = full')
    db.exec('pragma trusted_schema = off')
    db.exec('pragma secure_delete = on')
    db.exec(`pragma max_page_count = ${Math.max(16, Math.floor(maxBytes / pageBytes))}`)
    db.exec(
      'create table if not exists groups (number integer primary key, rows integer not null, "group" text not null)'
    )
    // Takes the lock also where the table was there already.
    db.exec('begin immediate; commit')
  } catch (error) {
    db.close()
    throw error
  }
  const insert = db.prepare('insert into groups (number, rows, "group") values (?, ?, ?)')
  const oldest = db.prepare('select "group" from groups order by number limit 1')
  const counted = db.prepare('select coalesce(sum(rows), 0) as rows from groups where number <= ?')
  const removal = db.prepare('delete from groups where number <= ?')
  const rowsUpTo = (number: number) => Number((counted.get(number) as { rows: number }).rows)
  let rows = rowsUpTo(Number.MAX_SAFE_INTEGER)
  let isEmpty = oldest.get() === undefined
  return {
    get rows() {
      return rows
    },
    get isEmpty() {
      return isEmpty
    },
    push(group) {
      insert.run(group.number, group.rows.length, JSON.stringify(group))
      rows += group.rows.length
      isEmpty = false
    },
    first() {
      const found = oldest.get() as { group: string } | undefined
      return found && (JSON.parse(found.group) as Group)
    },
    remove(through) {
      const gone = rowsUpTo(through)
      removal.run(through)
      rows -= gone
      isEmpty = oldest.get() === undefined
    },
    close() {
      // Statements keep the connection and its lock until they are collected, so the lock is released explicitly.
      db.exec('pragma journal_mode = delete; pragma locking_mode = normal')
      oldest.get()
      db.close()
      if (isEmpty) removeFiles(path)
    }
  }
}
