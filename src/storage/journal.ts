/**
 * Group commit for the audit and the usage, the same for every store: what was added waits at most 100 ms and then
 * commits together, in one transaction, so that no request waits for a disk.
 */
import type { AuditRow, AuditStore } from './audit-store.js'
import { unavailable } from './failure.js'
import type { UsageRow, UsageStore } from './usage-store.js'

const groupMs = 100
/** After a failed commit the next try waits longer, so that a dead disk is not hammered ten times a second. */
const retryMs = 1000
/** About 50 MB at the usual row; past it the oldest rows are dropped and counted. */
const maxQueued = 100_000
/**
 * Rows per commit: bounds how long one transaction holds the storage, and the event loop where that is embedded (30 µs a
 * row, measured).
 */
const maxGroup = 250
const dayMs = 86_400_000

export interface Group {
  rows: readonly AuditRow[]
  usage: readonly UsageRow[]
}

export interface Journal extends Pick<AuditStore, 'append' | 'commit' | 'flush' | 'dropped' | 'waiting'> {
  readonly usage: Pick<UsageStore, 'add'>
  /** Stops the timer and commits what is queued. */
  close(): Promise<void>
}

interface Entry {
  row: AuditRow
  done?: { resolve(): void; reject(error: unknown): void }
}

/**
 * @param store takes a group, rows in order, in one transaction, or rejects having stored none
 * @param onFailure told of a group that could not be committed yet; it is kept
 */
export function createJournal(store: (group: Group) => Promise<void>, onFailure: (error: unknown) => void): Journal {
  let queue: Entry[] = []
  /** By key, surface and day. */
  let usage = new Map<string, UsageRow>()
  let committing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let dueAt = 0
  let dropped = 0
  let closed = false

  /** What is queued now, and not what comes meanwhile: a flush must end under a load that does not. */
  async function drain(): Promise<void> {
    let left = queue.length
    do {
      const group = queue.slice(0, maxGroup)
      left -= group.length
      const before = dropped
      const sums = usage
      usage = new Map()
      try {
        await store({ rows: group.map(({ row }) => row), usage: [...sums.values()] })
      } catch (error) {
        for (const row of usage.values()) addTo(sums, row)
        usage = sums
        for (const entry of group) {
          entry.done?.reject(error)
          delete entry.done
        }
        throw error
      }
      for (const { done } of group) done?.resolve()
      // Rows that were dropped meanwhile were the oldest, so they are among those just committed.
      const gone = dropped - before
      dropped -= Math.min(gone, group.length)
      queue.splice(0, Math.max(0, group.length - gone))
      // Requests that came meanwhile go first.
      if (left > 0) await new Promise((resolve) => setImmediate(resolve))
    } while (left > 0 && queue.length > 0)
  }

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    while (committing) await committing.catch(() => {})
    if (queue.length === 0 && usage.size === 0) return
    committing = drain()
    let pause = retryMs
    try {
      await committing
      pause = queue.some(({ done }) => done !== undefined) ? 0 : groupMs
    } finally {
      committing = undefined
      if (queue.length > 0 || usage.size > 0) schedule(pause)
    }
  }

  function schedule(delay: number): void {
    if (closed) return
    const at = performance.now() + delay
    if (timer !== undefined && dueAt <= at) return
    clearTimeout(timer)
    dueAt = at
    timer = setTimeout(() => {
      timer = undefined
      flush().catch(onFailure)
    }, delay)
    // Somebody waits for a commit that is due at once; of what merely waits to be grouped, `close` takes care.
    if (delay > 0) timer.unref()
  }

  function enqueue(entry: Entry, delay: number): void {
    queue.push(entry)
    if (queue.length > maxQueued) {
      // A tenth at once: dropping one row at a time from the front of a long array costs its whole length.
      const surplus = maxQueued / 10
      for (const { done } of queue.slice(0, surplus)) done?.reject(unavailable('too many rows of the audit wait'))
      queue = queue.slice(surplus)
      dropped += surplus
    }
    if (!committing) schedule(delay)
  }

  return {
    append: (row) => enqueue({ row }, groupMs),
    // All that come in the same turn of the event loop share a commit, and those of the next share the one after.
    commit: (row) => new Promise((resolve, reject) => enqueue({ row, done: { resolve, reject } }, 0)),
    flush,
    get dropped() {
      return dropped
    },
    get waiting() {
      return queue.length
    },
    usage: {
      add({ at, ...use }) {
        addTo(usage, use, at)
        if (!committing) schedule(groupMs)
      }
    },
    async close() {
      closed = true
      do await flush()
      while (queue.length > 0 || usage.size > 0)
    }
  }
}

function addTo(sums: Map<string, UsageRow>, use: Omit<UsageRow, 'day'> & { day?: string }, at?: number): void {
  // Dividing is a tenth of the cost of writing a date, which then is written once a day and key.
  const day = use.day ?? Math.floor(at! / dayMs)
  const key = `${use.keyId} ${use.surface} ${typeof day === 'number' ? day : Date.parse(day) / dayMs}`
  const sum = sums.get(key)
  if (sum === undefined) {
    sums.set(key, { ...use, day: typeof day === 'number' ? new Date(day * dayMs).toISOString().slice(0, 10) : day })
  } else {
    sum.evaluations += use.evaluations
    sum.characters += use.characters
  }
}
