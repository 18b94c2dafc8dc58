/**
 * Group commit for the audit and the usage, the same for every store: what was added waits at most 100 ms and then
 * commits together, in one transaction, so that no request waits for a disk. While the storage does not take it, it waits
 * in a spool on the disk, where there is one, and in memory otherwise; both are bounded, and what is lost is itself a row.
 */
import { randomUUID } from 'node:crypto'
import type { AuditStore, UsageStore } from '../contracts/audit.js'
import { type Group, type JournalLog, JournalQueue, maxGroup } from './queue.js'
import { createSpool, type Spool, type SpoolOptions } from './spool.js'

const groupMs = 100
/** After a failed commit the next try waits longer, so that a dead disk is not hammered ten times a second. */
const retryMs = 1000
/** A group whose commit takes so long, and a row that waits so long for its group: what waits goes to the spool meanwhile. */
const lateMs = 500

export interface JournalOptions {
  node: string
  /** Takes a group, rows in order, in one transaction, or rejects having stored none. One that it took before is done. */
  store(group: Group): Promise<void>
  /** Rows of the next group, at most. Default: `maxGroup`. */
  groupRows?(): number
  /** Default: what waits is in memory alone. */
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
  // Everything that waits, the oldest first: the spool, then the one group that was sealed and is not in it, then the queue.
  let spool: Spool | undefined
  let current: Group | undefined
  const queue = new JournalQueue(id, node, log)
  let committing: Promise<void> | undefined
  /** When the commit of the current group began, monotonic ms. */
  let began = 0
  let isFailing = false
  let isSpoolRefusing = false
  let keeping: NodeJS.Timeout | undefined
  let timer: NodeJS.Timeout | undefined
  /** What the timer was set to, ms. */
  let timerMs = 0
  let closed = false

  const isWaiting = () => !queue.isEmpty || current !== undefined || spool?.isEmpty === false

  /** What waits in memory goes to the disk, as far as there is room. */
  function harden(): void {
    if (spoolOptions === undefined || (queue.isEmpty && current === undefined)) return
    try {
      spool ??= createSpool(spoolOptions)
      current ??= queue.seal(maxGroup)
      for (; current !== undefined; current = queue.seal(maxGroup)) spool.push(current)
      isSpoolRefusing = false
    } catch (error) {
      // Tried again with the next rows: room may come.
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

  /** What is queued now, and not what comes meanwhile: a flush must end under a load that does not. */
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
    // It was set before now, so to no longer a time is sooner: no clock is read for each row.
    if (timer !== undefined && timerMs <= delay) return
    clearTimeout(timer)
    timerMs = delay
    timer = setTimeout(() => {
      timer = undefined
      flush().catch((error) => {
        const rows = { rows: journal.waiting, on_disk: spool?.rows ?? 0 }
        log?.error({ err: error, ...rows }, 'audit and usage wait: the storage does not take them')
      })
    }, delay)
    // Somebody waits for a commit that is due at once; of what merely waits to be grouped, `close` takes care.
    if (delay > 0) timer.unref()
  }

  /** While the storage is late or fails, what comes is on the disk within the time that it would be committed in. */
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
    // All that come in the same turn of the event loop share a commit, and those of the next share the one after.
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
