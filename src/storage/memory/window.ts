/**
 * One sliding window: a ring of (time, count) entries, oldest first. Entries younger than the grain are merged under the
 * *latest* of their times, so whatever is merged expires late, never early: the window may refuse up to one grain too
 * long, and never lets more than the limit through. A grain of 0 merges equal times only, which is exact.
 */
import type { Taken } from '../contracts/counter-store.js'

export class SlidingWindow {
  #times = new Float64Array(4)
  #counts = new Float64Array(4)
  #head = 0
  #size = 0
  #used = 0
  /** When the newest entry was begun: merging is bounded by it, not by its moving time. */
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
