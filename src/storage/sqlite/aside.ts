/**
 * Stores groups of the journal in a thread: a row costs SQLite some 20 µs, and a commit waits for the disk, while an event
 * loop that is busy enough to make large groups has better to do. The thread starts with the first large one, takes all
 * while it is there, and ends when no large one has come for a while: a quiet server does not pay for it.
 */
import type { Piscina } from 'piscina'
import { threadFile } from '../../base/thread.js'
import type { Group, JournalLog } from '../journal/queue.js'
import type { Aside } from '../sql/audit.js'

/** Rows, or uses, of a group for which the thread starts: at ten groups a second, that of some 200 chats in each. */
const fewest = 40
/**
 * Rows of one group, at most. A transaction waits for the disk once, and the event loop hands it over once, however many
 * rows it has; where the thread fails, the event loop stores a group of so many by itself.
 */
const most = 1000
/** ms without a large group. */
const idleTimeout = 60_000

export interface AsideTask {
  path: string
  /** JSON: copied in one piece, where a tree of objects would be walked twice. Undefined: only to start. */
  group: string | undefined
}

function sizeOf({ rows, usage }: Group): number {
  return usage.reduce((most, { evaluations }) => Math.max(most, evaluations), rows.length)
}

/** @param path of a database in the newest form */
export function createAside(path: string, log: JournalLog | undefined): Aside {
  let starting: Promise<void> | undefined
  let pool: Piscina | undefined
  /** Groups do not wait for it. */
  let isReady = false
  let isClosed = false
  /** When the last large group came, monotonic ms. */
  let largeAt = Number.NEGATIVE_INFINITY

  async function start(): Promise<void> {
    // Loaded where it is used only: a quiet server needs neither.
    const { Piscina } = await import('piscina')
    if (isClosed) return
    pool = new Piscina({
      filename: threadFile(import.meta.url, 'aside-worker'),
      minThreads: 0,
      maxThreads: 1,
      idleTimeout,
      resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8, stackSizeMb: 4 }
    })
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
      // As long as the thread is kept it takes the small ones too: each would else hold the event loop while the disk is written.
      if (!isReady || performance.now() - largeAt >= idleTimeout) return false
      // However long it takes: what comes meanwhile waits in the spool, where a blocked event loop would serve nobody.
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
