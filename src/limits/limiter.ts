/** The limit of a key: a sliding window of one minute over a counter that belongs to the key's lineage. */
import type { CounterStore, Taken } from '../storage/contracts/index.js'
import type { Limiter, LimitState } from './limit.js'

export const minuteMs = 60_000

export function createLimiter({ counters }: { counters: CounterStore }): Limiter {
  return {
    charge({ lineage, limitPerMinute }, cost) {
      const taken = counters.take(lineage, cost, limitPerMinute, minuteMs)
      return taken instanceof Promise
        ? taken.then((taken) => stateOf(taken, limitPerMinute))
        : stateOf(taken, limitPerMinute)
    }
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
