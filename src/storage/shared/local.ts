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
  /** @param earlyMs how much sooner than after `windowMs` what was taken counts no longer; 0 if left out */
  take(counter: string, cost: number, limit: number, windowMs: number, earlyMs?: number): Taken
  close(): void
  /** How many counters are held, for tests of the bound. */
  readonly size: number
}

/** The counters of windows of one length. */
interface Generations {
  young: Map<string, SlidingWindow>
  old: Map<string, SlidingWindow>
  turnsAt: number
}

/**
 * Counters live in two generations for each length of window. Each use moves a counter into the young one. Once a window
 * the young becomes the old and the old is dropped: a dropped counter was idle for a whole window and would be empty.
 * Every use turns all that are due, so that long windows keep no counters of short ones. No scan, no timer.
 *
 * @param maxCounters beyond it generations turn early and drop the least recently used: the bound, for each length of
 * window, against counters that attackers invent (by address). The default exceeds the number of keys used within a
 * minute.
 * @param grainMs coarser entries, where exactness is not wanted
 */
export function createMemoryCounters(options: {
  clock: Clock
  maxCounters?: number
  grainMs?: number
}): MemoryCounters {
  const { clock, grainMs } = options
  const maxYoung = (options.maxCounters ?? 2_000_000) / 2
  /** By length of window: the few lengths that the program and its settings name. */
  const byWindow = new Map<number, Generations>()

  function turn(generations: Generations, windowMs: number, now: number): void {
    // Whatever is young is over too where nobody has come for a whole window since the turn was due.
    generations.old = now >= generations.turnsAt + windowMs ? new Map() : generations.young
    generations.young = new Map()
    generations.turnsAt = now + windowMs
  }

  function generationsOf(windowMs: number, now: number): Generations {
    for (const [length, each] of byWindow) if (now >= each.turnsAt) turn(each, length, now)
    let found = byWindow.get(windowMs)
    if (found === undefined) {
      found = { young: new Map(), old: new Map(), turnsAt: now + windowMs }
      byWindow.set(windowMs, found)
    } else if (found.young.size >= maxYoung) turn(found, windowMs, now)
    return found
  }

  return {
    take(counter, cost, limit, windowMs, earlyMs = 0) {
      const now = clock.monotonic()
      const { young, old } = generationsOf(windowMs, now)
      let window = young.get(counter)
      if (!window) {
        window = old.get(counter) ?? new SlidingWindow()
        // A mere look stores nothing, so that an address with only valid keys takes no memory.
        if (cost > 0) {
          young.set(counter, window)
          old.delete(counter)
        }
      }
      const countedMs = windowMs - earlyMs
      return window.take(now, cost, limit, countedMs, grainMs ?? grainOf(limit, countedMs))
    },
    close() {
      byWindow.clear()
    },
    get size() {
      let size = 0
      for (const { young, old } of byWindow.values()) size += young.size + old.size
      return size
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
