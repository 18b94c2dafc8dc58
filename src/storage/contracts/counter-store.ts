/** The contract of what counts for limits. `index.ts` says what holds for every contract. */

/** The outcome of taking from a counter. */
export interface Taken {
  allowed: boolean
  /** How much more fits now. */
  remaining: number
  /** Milliseconds until one more fits; 0 where it does now. */
  resetMs: number
  /** Milliseconds until this cost fits; 0 where it was taken. A cost above the limit never fits: the whole window. */
  retryMs: number
}

/**
 * Sliding-window counters. In no window of `windowMs` is more than `limit` taken. The memory store answers at once, so
 * that the hot path stays synchronous; a shared store answers with a promise.
 */
export interface CounterStore {
  /** Takes `cost` where it fits whole, else nothing. A cost of 0 only looks. */
  take(counter: string, cost: number, limit: number, windowMs: number): Taken | Promise<Taken>
  close(): void | Promise<void>
}
