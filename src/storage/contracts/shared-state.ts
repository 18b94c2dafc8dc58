/**
 * The contract of the state that nodes share beyond the storage: counters for limits, sessions, and notices of changes.
 * It lives in this process, in Redis for many machines, or in the primary for the workers of one machine.
 */
import type { SessionStore } from '../../policy/evaluate/session.js'

/** A notice that the storage changed data which other processes cache. */
export type Notice =
  /** A key, by its 8 characters. */
  | { readonly kind: 'key'; readonly prefix: string }
  /** A constitution was stored, or another version is in force. */
  | { readonly kind: 'constitution' }
  /** A version is about to be put in force. */
  | { readonly kind: 'prepare'; readonly name: string; readonly version: number }
  /** Unknown changes: a notice was missed. */
  | { readonly kind: 'unknown' }

export type Listener = (notice: Notice) => unknown

export interface Notices {
  /**
   * Resolves when every other node got the notice, or after a time-out; unreached nodes learn of it by polling the
   * storage.
   */
  publish(notice: Notice): Promise<void>
  /** Resolves when every known node has handled the notice, or after `mostMs`. Never rejects. */
  publishAndWait(notice: Notice, mostMs: number): Promise<void>
  /**
   * Calls the listener for notices of other nodes, and perhaps of this one. `publishAndWait` waits for the listener's
   * promise.
   */
  listen(listener: Listener): void
}

export interface SharedState {
  /** Never rejects: while the shared store does not answer, local counts decide. */
  readonly counters: CounterStore
  readonly sessions: SessionStore
  readonly notices: Notices
  /** `up`: whether the shared store answers; undefined where there is none. `nodes`: the known number of nodes. */
  status(): { up: boolean | undefined; nodes: number }
  close(): Promise<void>
}

/** The outcome of taking from a counter. */
export interface Taken {
  allowed: boolean
  /** How much more is allowed now. */
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
