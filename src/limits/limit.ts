/** Types of limits: their state for clients (docs/api.md, section 3), and the counted caller. */

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

/** The counted caller, such as a `Caller`. */
export interface Counted {
  readonly lineage: string
  readonly limitPerMinute: number
}

/** Windows of the encoder that each request of a limit buys: most need one to three. */
const windowsPerRequest = 16
/** Least allowance: even a key with the smallest limit can make the most expensive request. */
const leastWindows = 256

/** Windows of the encoder in any minute. */
export function windowsPerMinute({ limitPerMinute }: Counted): number {
  return Math.max(leastWindows, limitPerMinute * windowsPerRequest)
}

export interface Limiter {
  /** Takes `cost` whole or not at all; a cost of 0 only looks. Synchronous where the counters are in memory. */
  charge(counted: Counted, cost: number): LimitState | Promise<LimitState>
  /** Charges windows of the encoder, which have a counter of their own. */
  chargeWindows(counted: Counted, windows: number): LimitState | Promise<LimitState>
}
