/** The state of a limit as clients see it (docs/api.md, section 3), and what is counted. */

export interface LimitState {
  allowed: boolean
  /** Requests per minute. */
  limit: number
  remaining: number
  /** Whole seconds until one more is allowed; 0 where one is allowed now. */
  reset: number
  /** Whole seconds until what was asked for fits; 0 where it was allowed, else at least 1. */
  retryAfter: number
}

/** Whom a limit counts: a `Caller` fits. */
export interface Counted {
  readonly lineage: string
  readonly limitPerMinute: number
}

/** Windows of the encoder that each request of a limit buys: most need one to three. */
const windowsPerRequest = 16
/** What one request may cost at most: a key with the smallest limit may make it. */
const leastWindows = 256

/** Windows of the encoder in any minute. */
export function windowsPerMinute({ limitPerMinute }: Counted): number {
  return Math.max(leastWindows, limitPerMinute * windowsPerRequest)
}

export interface Limiter {
  /** Takes `cost` whole or not at all; a cost of 0 only looks. Synchronous where the counters are in memory. */
  charge(counted: Counted, cost: number): LimitState | Promise<LimitState>
  /** The same for windows of the encoder, which have a counter of their own. */
  chargeWindows(counted: Counted, windows: number): LimitState | Promise<LimitState>
}
