/** Group commit for the audit, the same for every store: rows wait at most 100 ms and then commit together. */
import type { AuditRow, AuditStore } from './audit-store.js'

const groupMs = 100
/** After a failed commit the next try waits longer, so that a dead disk is not hammered ten times a second. */
const retryMs = 1000
/** About 50 MB at the usual row; past it the oldest rows are dropped and counted. */
const maxQueued = 100_000
/** Rows per commit: bounds how long one transaction holds the storage. */
const maxGroup = 1000

export interface AuditBuffer extends Pick<AuditStore, 'append' | 'flush' | 'dropped'> {
  /** Stops the timer and commits what is queued. */
  close(): Promise<void>
}

/** @param commit stores rows in order, in one transaction, or rejects having stored none */
export function createAuditBuffer(
  commit: (rows: readonly AuditRow[]) => Promise<void>,
  onFailure: (error: unknown) => void
): AuditBuffer {
  let queue: AuditRow[] = []
  let committing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let dropped = 0
  let closed = false

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      const group = queue.slice(0, maxGroup)
      const before = dropped
      await commit(group)
      // Rows that were dropped meanwhile were the oldest, so they are among those just committed.
      const gone = dropped - before
      dropped -= Math.min(gone, group.length)
      queue.splice(0, Math.max(0, group.length - gone))
    }
  }

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    while (committing) await committing.catch(() => {})
    if (queue.length === 0) return
    committing = drain()
    try {
      await committing
    } finally {
      committing = undefined
      if (queue.length > 0) schedule(retryMs)
    }
  }

  function schedule(delay: number): void {
    if (timer || closed) return
    timer = setTimeout(() => {
      timer = undefined
      flush().catch(onFailure)
    }, delay)
    timer.unref()
  }

  return {
    append(row) {
      queue.push(row)
      if (queue.length > maxQueued) {
        // A tenth at once: dropping one row at a time from the front of a long array costs its whole length.
        const surplus = maxQueued / 10
        queue = queue.slice(surplus)
        dropped += surplus
      }
      if (!committing) schedule(groupMs)
    },
    flush,
    get dropped() {
      return dropped
    },
    async close() {
      closed = true
      await flush()
    }
  }
}
