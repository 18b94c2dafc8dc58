/** The state of a limit as clients see it: docs/api.md, section 3. Types only. */

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

export interface Limiter {
  /** Takes `cost` whole or not at all; a cost of 0 only looks. Synchronous where the counters are in memory. */
  charge(counted: Counted, cost: number): LimitState | Promise<LimitState>
}
