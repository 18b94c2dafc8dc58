/** The limit of a key: a sliding window of one minute over a counter that belongs to the key's lineage. */
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
