/**
 * The presence of processes: each reports itself in the storage, so that any process can answer for all. A process
 * without a report for a while is shown as silent, and later removed; one that ends in order removes itself.
 */
import type { Clock } from '../base/clock.js'
import type { ProcessRow, ProcessStore } from '../storage/contracts/processes.js'
import type { Rounds } from './outages.js'
import type { Trouble } from './troubles.js'

const tellMs = 10_000
/** Three missing reports: the process hangs, is cut off from the storage, or is gone. */
const silentMs = 35_000
/** How long a silent process is still shown. */
const forgottenMs = 3_600_000

/** Facts only, as the answer of `GET /api/v1/status` has them. */
export interface ProcessFacts {
  version: string
  runtime: string
  pid: number
  /** Its number among the workers of its node; null where it is the only process. */
  worker: number | null
  /** Wall time, ms. */
  loadedAt: number
  policies: readonly { name: string; version: string }[]
  weakenings: readonly string[]
  /** Rows of the audit that were lost. */
  auditDropped: number
  /** Its lasting failures; absent in reports of earlier releases. */
  troubles?: readonly Trouble[]
  /** Ids of the data keys that it holds: see `sealing/keyring.ts`. */
  dataKeys: { startedWith: string; current: string; known: readonly string[] }
}

export interface ProcessReport extends ProcessFacts, Pick<ProcessRow, 'node' | 'startedAt' | 'seenAt'> {
  isSilent: boolean
  /** Whether it is the one that answers. */
  isSelf: boolean
}

export interface Presence {
  /** When the storage last accepted the report of this process, or none was due; wall time, ms. */
  readonly toldAt: number
  /** Reports now; a timer also calls it. Never rejects. */
  tell(): Promise<void>
  /** By node and start. @throws Fault `storage_unavailable` */
  all(): Promise<ProcessReport[]>
  /** Removes this process. */
  close(): Promise<void>
}

export interface PresenceOptions {
  store: ProcessStore
  clock: Clock
  self: Pick<ProcessRow, 'process' | 'node' | 'startedAt'>
  /** Undefined until a configuration is in force. */
  facts(): ProcessFacts | undefined
  rounds: Rounds
}

export function createPresence({ store, clock, self, facts, rounds }: PresenceOptions): Presence {
  let isClosed = false
  let prunedAt = self.startedAt
  let toldAt = self.startedAt
  let telling: Promise<void> = Promise.resolve()

  function tell(): Promise<void> {
    telling = telling.then(async () => {
      const said = facts()
      if (isClosed) return
      const now = clock.now()
      if (said === undefined) {
        toldAt = now
        return
      }
      try {
        await store.tell({ ...self, seenAt: now, facts: { ...said } })
        toldAt = clock.now()
        if (now - prunedAt >= forgottenMs) {
          prunedAt = now
          await store.prune(now - forgottenMs)
        }
        rounds(undefined)
      } catch (error) {
        rounds(error)
      }
    })
    return telling
  }

  const timer = setInterval(tell, tellMs)
  timer.unref()
  return {
    get toldAt() {
      return toldAt
    },
    tell,
    async all() {
      await tell()
      const now = clock.now()
      const rows = await store.list(now - forgottenMs)
      return rows.map(({ process, node, startedAt, seenAt, facts }) => ({
        ...(facts as unknown as ProcessFacts),
        node,
        startedAt,
        seenAt,
        isSilent: now - seenAt > silentMs,
        isSelf: process === self.process
      }))
    },
    async close() {
      clearInterval(timer)
      isClosed = true
      await telling
      await store.remove(self.process).catch(rounds)
    }
  }
}
