/**
 * The limits of a key: requests in a sliding window of one minute, counted for the key's lineage, and concurrent
 * requests.
 */
import type { CounterStore, Taken } from '../storage/contracts/shared-state.js'
import { type Limiter, type LimitState, windowsPerMinute } from './limit.js'

export const minuteMs = 60_000

export function createLimiter({ counters }: { counters: CounterStore }): Limiter {
  function take(counter: string, cost: number, limit: number): LimitState | Promise<LimitState> {
    const taken = counters.take(counter, cost, limit, minuteMs)
    return taken instanceof Promise ? taken.then((taken) => stateOf(taken, limit)) : stateOf(taken, limit)
  }
  return {
    charge: ({ lineage, limitPerMinute }, cost) => take(lineage, cost, limitPerMinute),
    chargeWindows: (counted, windows) => take(`${counted.lineage}/windows`, windows, windowsPerMinute(counted))
  }
}

/** Seconds are rounded up, so that a client that waits this long is served. */
function stateOf({ allowed, remaining, resetMs, retryMs }: Taken, limit: number): LimitState {
  return {
    allowed,
    limit,
    remaining,
    reset: Math.ceil(resetMs / 1000),
    retryAfter: allowed ? 0 : Math.max(1, Math.ceil(retryMs / 1000))
  }
}

/**
 * Counts concurrent requests of each key in this process, by lineage, so that a rotated key and its successor share one
 * count.
 */
export class Concurrency {
  readonly #underWay = new Map<string, number>()
  readonly #changed: (by: 1 | -1) => void

  /** @param changed called when a request begins (1) and when it is over (-1) */
  constructor(changed: (by: 1 | -1) => void) {
    this.#changed = changed
  }

  /** @returns a function that releases the place, with further calls ignored; undefined without a free place */
  take(lineage: string, most: number): (() => void) | undefined {
    const count = this.#underWay.get(lineage) ?? 0
    if (count >= most) return undefined
    this.#underWay.set(lineage, count + 1)
    this.#changed(1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#changed(-1)
      const left = this.#underWay.get(lineage)! - 1
      if (left === 0) this.#underWay.delete(lineage)
      else this.#underWay.set(lineage, left)
    }
  }
}
