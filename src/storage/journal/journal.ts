/**
 * Group commit for audit and usage, for every store: added rows wait at most 100 ms and then commit together in one
 * transaction, so that no request waits for a disk. While the storage fails, rows wait in a spool on disk if there is
 * one, else in memory; both are bounded, and a loss is itself recorded in a row.
 */
import { randomUUID } from 'node:crypto'
import type { AuditStore, UsageStore } from '../contracts/audit.js'
import { type Group, type JournalLog, JournalQueue, maxGroup } from './queue.js'
import { createSpool, type Spool, type SpoolOptions } from './spool.js'

const groupMs = 100
/** How often an outage is told again while it lasts. */
const summaryMs = 60_000
/** Pause after a failed commit, so that a dead disk is not tried ten times a second. */
const retryMs = 1000
/** Time after which a slow commit or a waiting row makes the waiting rows go to the spool. */
const lateMs = 500

export interface JournalOptions {
  node: string
  /**
   * Stores a group in order in one transaction, or rejects without storing any. A group that is stored already is
   * skipped.
   */
  store(group: Group): Promise<void>
  /** Rows of the next group, at most. Default: `maxGroup`. */
  groupRows?(): number
  /** Default: rows wait in memory only. */
  spool?: SpoolOptions | undefined
  log?: JournalLog | undefined
}

export interface Journal extends Pick<AuditStore, 'append' | 'commit' | 'flush' | 'dropped' | 'isFailing' | 'waiting'> {
  readonly id: string
  readonly usage: Pick<UsageStore, 'add'>
  /**
   * Stops the timers and commits what is queued. @returns whether all of it is committed, and not left in the spool
   * @throws where neither is possible: those rows are lost
   */
  close(): Promise<boolean>
}

export function createJournal({
  node,
  store,
  groupRows = () => maxGroup,
  spool: spoolOptions,
  log
}: JournalOptions): Journal {
  const id = randomUUID()
  // The waiting rows, oldest first, are: the spool, then one sealed group outside of it, then the queue.
  let spool: Spool | undefined
  let current: Group | undefined
  const queue = new JournalQueue(id, node, log)
  let committing: Promise<void> | undefined
  /** When the commit of the current group began, monotonic ms. */
  let began = 0
  let isFailing = false
  /** When the outage was told last, monotonic ms; undefined: there is none. */
  let toldAt: number | undefined
  let isSpoolRefusing = false
  let keeping: NodeJS.Timeout | undefined
  let timer: NodeJS.Timeout | undefined
  /** What the timer was set to, ms. */
  let timerMs = 0
  let closed = false

  const isWaiting = () => !queue.isEmpty || current !== undefined || spool?.isEmpty === false

  /** Moves waiting rows from memory to disk, as far as there is room. */
  function harden(): void {
    if (spoolOptions === undefined || (queue.isEmpty && current === undefined)) return
    try {
      spool ??= createSpool(spoolOptions)
      current ??= queue.seal(maxGroup)
      for (; current !== undefined; current = queue.seal(maxGroup)) spool.push(current)
      isSpoolRefusing = false
    } catch (error) {
      // Tried again with the next rows, since room may become free.
      if (!isSpoolRefusing) log?.error({ err: error }, 'audit and usage wait in memory: the spool does not take them')
      isSpoolRefusing = true
    }
  }

  function oldest(): Group | undefined {
    const spooled = spool?.first()
    if (spooled !== undefined) return spooled
    current ??= queue.seal(groupRows())
    return current
  }

  /** Commits only rows queued by now, so that a flush ends under constant load. */
  async function commitAll(): Promise<void> {
    const until = queue.number + Math.max(1, Math.ceil(queue.rows / groupRows()))
    for (let group = oldest(); group !== undefined; group = oldest()) {
      began = performance.now()
      await store(group)
      // Meanwhile it may have gone to the spool.
      if (current?.number === group.number) current = undefined
      else spool?.remove(group.number)
      queue.committed(group.number)
      if (group.number >= until) return
      // Requests that came meanwhile go first.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async function attempt(): Promise<void> {
    try {
      await commitAll()
      if (isFailing) log?.info?.({}, 'audit and usage are committed again')
      isFailing = false
      toldAt = undefined
    } catch (error) {
      isFailing = true
      harden()
      queue.rejectAll(error)
      throw error
    }
  }

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    while (committing) await committing.catch(() => {})
    if (!isWaiting()) return
    committing = attempt()
    try {
      await committing
    } finally {
      committing = undefined
      if (isWaiting()) schedule(isFailing ? retryMs : queue.isUrgent ? 0 : groupMs)
    }
  }

  function schedule(delay: number): void {
    if (closed || committing) return
    // The present timer fires sooner: this check avoids reading the clock for each row.
    if (timer !== undefined && timerMs <= delay) return
    clearTimeout(timer)
    timerMs = delay
    timer = setTimeout(() => {
      timer = undefined
      flush().catch((error) => {
        const now = performance.now()
        if (now - (toldAt ?? Number.NEGATIVE_INFINITY) < summaryMs) return
        toldAt = now
        const rows = { rows: journal.waiting, on_disk: spool?.rows ?? 0 }
        log?.error({ err: error, ...rows }, 'audit and usage wait: the storage does not take them')
      })
    }, delay)
    // Only an urgent commit keeps the process alive; `close` commits the other rows.
    if (delay > 0) timer.unref()
  }

  /** While the storage is late or fails, new rows reach the disk within the usual commit time. */
  function keep(): void {
    keeping = undefined
    const now = performance.now()
    if (isFailing || (committing !== undefined && now - Math.min(began, queue.since ?? now) > lateMs)) harden()
    if (!queue.isEmpty) keepSoon()
  }
  function keepSoon(): void {
    if (closed || spoolOptions === undefined || !(isFailing || committing)) return
    keeping ??= setTimeout(keep, groupMs).unref()
  }

  function added(delay: number): void {
    schedule(isFailing && delay > 0 ? retryMs : delay)
    keepSoon()
  }

  const journal: Journal = {
    id,
    append(row) {
      queue.push(row)
      added(groupMs)
    },
    // Rows of one turn of the event loop share a commit; those of the next turn share the following one.
    commit: (row) =>
      new Promise((resolve, reject) => {
        queue.push(row, { resolve, reject })
        added(0)
      }),
    flush,
    get isFailing() {
      return isFailing
    },
    get dropped() {
      return queue.dropped
    },
    get waiting() {
      return queue.rows + (current?.rows.length ?? 0) + (spool?.rows ?? 0)
    },
    usage: {
      add(use) {
        queue.usage.add(use)
        added(groupMs)
      }
    },
    async close() {
      closed = true
      clearTimeout(keeping)
      try {
        do await flush()
        while (isWaiting())
        return true
      } catch (error) {
        const rows = journal.waiting
        harden()
        const lost = rows - (spool?.rows ?? 0)
        if (current !== undefined || !queue.isEmpty) {
          log?.error({ rows: lost }, 'rows of the audit are lost: the process ends before the storage takes them')
          throw error
        }
        log?.error({ rows }, 'audit and usage are left in the spool for the next start')
        return false
      } finally {
        spool?.close()
      }
    }
  }
  return journal
}
