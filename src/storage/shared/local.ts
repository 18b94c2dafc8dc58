/** Shared state of a single process, in memory. */
import type { Clock } from '../../base/clock.js'
import { memorySessions } from '../../policy/evaluate/session.js'
import type { CounterStore, SharedState, Taken } from '../contracts/shared-state.js'

export function createLocalState(clock: Clock): SharedState {
  const counters = createMemoryCounters({ clock })
  return {
    counters,
    sessions: memorySessions(clock),
    notices: { publish: async () => {}, publishAndWait: async () => {}, listen() {} },
    status: () => ({ up: undefined, nodes: 1 }),
    close: async () => counters.close()
  }
}

/** Up to this limit every request has its own entry, which is exact: at most 16 KB for a counter. */
const exactLimit = 1000
/** Above it, 1/600 of a window: 0.17 % of a minute, within the 1 % of docs/api.md, section 3. */
const grains = 600

/** Granularity of entries for this limit, ms; equal in every store. */
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
 * Counters live in two generations. Each use moves a counter into the young one. Once a window the young becomes the
 * old and the old is dropped: a dropped counter was idle for a whole window and would be empty. No scan, no timer.
 *
 * @param maxCounters beyond it generations turn early and drop the least recently used: the bound against counters that
 * attackers invent (by address). The default exceeds the number of keys used within a minute.
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
        // A mere look stores nothing, so that an address with only valid keys takes no memory.
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

export class SlidingWindow {
  #times = new Float64Array(4)
  #counts = new Float64Array(4)
  #head = 0
  #size = 0
  #used = 0
  /** Start of the newest entry, which bounds merging; its own time moves. */
  #begun = 0

  take(now: number, cost: number, limit: number, windowMs: number, grainMs: number): Taken {
    this.#expire(now, windowMs)
    const allowed = cost === 0 || this.#used + cost <= limit
    if (allowed && cost > 0) this.#add(now, cost, grainMs)
    return {
      allowed,
      remaining: Math.max(0, limit - this.#used),
      resetMs: this.#untilFits(now, 1, limit, windowMs),
      retryMs: allowed ? 0 : this.#untilFits(now, cost, limit, windowMs)
    }
  }

  #index(position: number): number {
    return (this.#head + position) & (this.#times.length - 1)
  }

  /** The window is half open: what was taken exactly one window ago no longer counts. */
  #expire(now: number, windowMs: number): void {
    while (this.#size > 0 && this.#times[this.#head]! + windowMs <= now) {
      this.#used -= this.#counts[this.#head]!
      this.#head = this.#index(1)
      this.#size--
    }
  }

  #add(now: number, cost: number, grainMs: number): void {
    this.#used += cost
    const newest = this.#index(this.#size - 1)
    if (this.#size > 0 && now - this.#begun <= grainMs) {
      this.#times[newest] = now
      this.#counts[newest]! += cost
      return
    }
    if (this.#size === this.#times.length) this.#grow()
    const next = this.#index(this.#size++)
    this.#times[next] = now
    this.#counts[next] = cost
    this.#begun = now
  }

  #grow(): void {
    const times = new Float64Array(this.#size * 2)
    const counts = new Float64Array(this.#size * 2)
    for (let i = 0; i < this.#size; i++) {
      times[i] = this.#times[this.#index(i)]!
      counts[i] = this.#counts[this.#index(i)]!
    }
    this.#times = times
    this.#counts = counts
    this.#head = 0
  }

  /** Milliseconds until `cost` fits, if nothing else is taken; the whole window where it never does. */
  #untilFits(now: number, cost: number, limit: number, windowMs: number): number {
    if (cost > limit) return windowMs
    let used = this.#used
    for (let i = 0; used + cost > limit; i++) {
      used -= this.#counts[this.#index(i)]!
      if (used + cost <= limit) return this.#times[this.#index(i)]! + windowMs - now
    }
    return 0
  }
}
