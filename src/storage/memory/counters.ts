/** Counters of one process, synchronous: the default, and what one machine needs. */
import type { Clock } from '../../base/clock.js'
import type { CounterStore, Taken } from '../contracts/counter-store.js'
import { SlidingWindow } from './window.js'

/** Up to this limit every request is remembered on its own, which is exact: at most 16 KB for a counter. */
const exactLimit = 1000
/** Above it, 1/600 of a window: 0.17 % of a minute, within the 1 % of docs/api.md, section 3. */
const grains = 600

/** How coarse entries are for this limit, ms; the same in every store. */
export function grainOf(limit: number, windowMs: number): number {
  return limit > exactLimit ? windowMs / grains : 0
}

export interface MemoryCounters extends CounterStore {
  take(counter: string, cost: number, limit: number, windowMs: number): Taken
  close(): void
  /** How many counters are held, for tests of the bound. */
  readonly size: number
}

/**
 * Counters live in two generations. Each use moves a counter into the young one; once a window the young becomes the old
 * and the old is dropped, so whatever is dropped was idle for a whole window and is as good as new. No scan, no timer.
 *
 * @param maxCounters past it generations turn early, so that those used least recently are forgotten: the bound against
 * counters that attackers can invent (by address). The default is beyond what keys in use within a minute can reach.
 * @param grainMs coarser entries, where exactness is not wanted
 */
export function createMemoryCounters(options: {
  clock: Clock
  maxCounters?: number
  grainMs?: number
}): MemoryCounters {
  const { clock, grainMs } = options
  const maxYoung = (options.maxCounters ?? 2_000_000) / 2
  let young = new Map<string, SlidingWindow>()
  let old = new Map<string, SlidingWindow>()
  let turnsAt = clock.monotonic()
  let longestMs = 0

  function turn(now: number): void {
    old = young
    young = new Map()
    turnsAt = now + longestMs
  }

  return {
    take(counter, cost, limit, windowMs) {
      const now = clock.monotonic()
      longestMs = Math.max(longestMs, windowMs)
      if (now >= turnsAt || young.size >= maxYoung) turn(now)
      let window = young.get(counter)
      if (!window) {
        window = old.get(counter) ?? new SlidingWindow()
        // A look alone keeps nothing: an address that only ever presents good keys takes no memory.
        if (cost > 0) {
          young.set(counter, window)
          old.delete(counter)
        }
      }
      return window.take(now, cost, limit, windowMs, grainMs ?? grainOf(limit, windowMs))
    },
    close() {
      young.clear()
      old.clear()
    },
    get size() {
      return young.size + old.size
    }
  }
}
