/**
 * What nodes of one gateway share beyond the storage: counters for limits, sessions, and word of what changed. In this
 * process alone, in Redis for many machines, or in the primary for the workers of one machine.
 */
import type { SessionStore } from '../../policy/evaluate/session.js'

/** Something that other processes hold in their memory was changed in the storage. */
export type Notice =
  /** A key, by its 8 characters. */
  | { readonly kind: 'key'; readonly prefix: string }
  /** A constitution was stored, or another version is in force. */
  | { readonly kind: 'constitution' }
  /** A version is about to be put in force. */
  | { readonly kind: 'prepare'; readonly name: string; readonly version: number }
  /** Anything at all: some word was missed. */
  | { readonly kind: 'unknown' }

export type Listener = (notice: Notice) => unknown

export interface Notices {
  /** Resolves when every other node was told, or could not be told in time: those find out by asking the storage. */
  publish(notice: Notice): Promise<void>
  /** Resolves when every node that is known has done what it does about the notice, or after the most ms. Never rejects. */
  publishAndWait(notice: Notice, mostMs: number): Promise<void>
  /** What other nodes publish; perhaps also what this one does. A promise is what `publishAndWait` waits for. */
  listen(listener: Listener): void
}

export interface SharedState {
  /** Never rejects: where what is shared does not answer, what is known here decides. */
  readonly counters: CounterStore
  readonly sessions: SessionStore
  readonly notices: Notices
  /** `up`: whether the shared store answers; undefined where there is none. `nodes`: how many share, as far as known. */
  status(): { up: boolean | undefined; nodes: number }
  close(): Promise<void>
}

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
