/**
 * Stores groups of the journal in a thread: a row costs SQLite some 20 µs and a commit waits for the disk, which a busy
 * event loop cannot afford. The thread starts with the first large group, stores all groups while it runs, and ends
 * after a time without large ones, so that a quiet server does not pay for it.
 */
import type { Piscina } from 'piscina'
import { threadFile } from '../../base/thread.js'
import type { Group, JournalLog } from '../journal/queue.js'
import type { Aside } from '../sql/audit.js'

/** Least rows or uses of a group that starts the thread: at ten groups a second, the load of some 200 chats a second. */
const fewest = 40
/**
 * Most rows of one group. Larger groups save transactions and messages; but if the thread fails, the event loop must
 * store such a group itself.
 */
const most = 1000
/** ms without a large group. */
const idleTimeout = 60_000

export interface AsideTask {
  path: string
  /** JSON, since copying one string is cheaper than a tree of objects. Undefined: the task only starts the thread. */
  group: string | undefined
}

function sizeOf({ rows, usage }: Group): number {
  return usage.reduce((most, { evaluations }) => Math.max(most, evaluations), rows.length)
}

/** @param path of a database in the newest form */
export function createAside(path: string, log: JournalLog | undefined): Aside {
  let starting: Promise<void> | undefined
  let pool: Piscina | undefined
  /** Groups do not wait for its start. */
  let isReady = false
  let isClosed = false
  /** When the last large group came, monotonic ms. */
  let largeAt = Number.NEGATIVE_INFINITY

  async function start(): Promise<void> {
    // Loaded only where used: a quiet server needs neither.
    const { Piscina } = await import('piscina')
    if (isClosed) return
    pool = new Piscina({
      filename: threadFile(import.meta.url, 'aside-worker'),
      minThreads: 0,
      maxThreads: 1,
      idleTimeout,
      resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8, stackSizeMb: 4 }
    })
    pool.on('error', (error: unknown) =>
      log?.error({ err: error }, 'the thread that stores the audit did not end in time')
    )
    try {
      await pool.run({ path, group: undefined } satisfies AsideTask)
      isReady = true
    } catch (error) {
      await pool.destroy()
      if (!isClosed) log?.error({ err: error }, 'no thread stores the audit: the event loop does it by itself')
    }
  }

  return {
    async store(group) {
      if (isClosed) return false
      if (sizeOf(group) >= fewest) {
        largeAt = performance.now()
        starting ??= start()
      }
      // While it runs, the thread stores small groups too, which would otherwise block the event loop during the disk
      // write.
      if (!isReady || performance.now() - largeAt >= idleTimeout) return false
      // Without a time-out: new rows wait in the spool, while storing here would block the event loop.
      await pool!.run({ path, group: JSON.stringify(group) } satisfies AsideTask)
      return true
    },
    get groupRows() {
      return isReady && !isClosed ? most : undefined
    },
    async close() {
      isClosed = true
      // A thread that is ended within a call of the driver ends the process (`base/thread.ts`).
      await starting
      await pool?.close()
    }
  }
}
