/**
 * Where groups of the journal wait while the storage does not take them: a small SQLite file of this process's own, so that
 * what a crash left half written is told from what was written, and its room has a hard bound. The file is locked as long
 * as the process lives: one that can be opened belongs to nobody any more, and whoever starts next stores what it holds.
 */
import { randomUUID } from 'node:crypto'
import { accessSync, closeSync, constants, fsyncSync, openSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { makeFolder } from '../base/folder.js'
import type { Group } from './journal.js'

export interface SpoolOptions {
  /** Made where it does not exist. */
  folder: string
  /** Of one process's file; a group that does not fit is not taken. */
  maxBytes: number
}

const suffix = '.spool'
const pageBytes = 4096

export interface Spool {
  /** Resolved: it is on the disk. @throws where there is no room for it, or no disk */
  push(group: Group): void
  /** The oldest, which stays. */
  first(): Group | undefined
  /** Takes out all up to a number. */
  remove(through: number): void
  /** Rows of the audit in it. */
  readonly rows: number
  readonly isEmpty: boolean
  /** What is in it stays for the next start; an empty one leaves nothing behind. */
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
  const directory = openSync(folder, 'r')
  fsyncSync(directory)
  closeSync(directory)
  return openSpool(path, maxBytes)
}

/** What processes that are gone have left behind, the oldest first, each locked. */
function abandoned({ folder, maxBytes }: SpoolOptions): Spool[] {
  const left: { spool: Spool; at: number }[] = []
  for (const name of readdirSync(folder).filter((name) => name.endsWith(suffix))) {
    try {
      const spool = openSpool(join(folder, name), maxBytes)
      left.push({ spool, at: spool.first()?.rows[0]?.at ?? 0 })
    } catch {
      // Its process lives; or it is no such file, and not ours to take away.
    }
  }
  return left.sort((a, b) => a.at - b.at).map(({ spool }) => spool)
}

/**
 * Stores what processes that are gone have left behind. What the storage does not take stays for the next start.
 * @param forget told of a journal of which nothing is left
 * @returns how many rows of the audit were stored
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
      // Statements hold the connection until they are collected, and with it the lock: it is let go of by name.
      db.exec('pragma journal_mode = delete; pragma locking_mode = normal')
      oldest.get()
      db.close()
      if (isEmpty) for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
    }
  }
}
