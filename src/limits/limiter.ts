/**
 * The limits of a key: how many requests in a sliding window of one minute, over a counter that belongs to the key's lineage,
 * and how many at a time.
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

/** Seconds are rounded up: who waits as long as we say is served. */
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
 * How many requests each key has under way, in this process. Counted by lineage, so that a rotated key and its successor
 * have one number between them.
 */
export class Concurrency {
  readonly #underWay = new Map<string, number>()
  readonly #changed: (by: 1 | -1) => void

  /** @param changed told of each that begins and each that is over */
  constructor(changed: (by: 1 | -1) => void) {
    this.#changed = changed
  }

  /** @returns what lets go of the place, once however often it is called; undefined where there is none */
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
