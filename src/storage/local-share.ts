/**
 * Counters that nodes share, and what a node does while they do not answer: it counts by itself, up to its share of the
 * limit. What it took before counts there too, so that an outage gives nobody a fresh window.
 */
import type { CounterStore, Taken } from './contracts/counter-store.js'
import type { MemoryCounters } from './memory/counters.js'

/**
 * By how much an answer may be late without looking like one taking too many here: windows of the shared store are
 * measured by its clock, and those here when the answer arrives.
 */
const latenessMs = 1_000

export interface LocalShareOptions {
  /** Asks the shared counters; rejects where they do not answer. */
  take(counter: string, cost: number, limit: number, windowMs: number): Promise<Taken>
  isUp(): boolean
  /** How many nodes there are, as far as known. */
  nodes(): number
  local: MemoryCounters
}

export function createLocalShare({ take, isUp, nodes, local }: LocalShareOptions): CounterStore {
  const takeShare = (counter: string, cost: number, limit: number, windowMs: number): Taken =>
    local.take(counter, cost, Math.max(1, Math.floor(limit / nodes())), windowMs)

  return {
    take(counter, cost, limit, windowMs) {
      if (!isUp()) return takeShare(counter, cost, limit, windowMs)
      return take(counter, cost, limit, windowMs).then(
        (taken) => {
          if (!taken.allowed || cost === 0) return taken
          // Refused here alone: the shared store has forgotten what it had counted.
          const here = local.take(counter, cost, limit, windowMs - latenessMs)
          return here.allowed ? taken : here
        },
        () => takeShare(counter, cost, limit, windowMs)
      )
    },
    close: () => local.close()
  }
}
