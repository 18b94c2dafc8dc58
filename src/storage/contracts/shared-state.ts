/**
 * What nodes of one gateway share beyond the storage: counters for limits, sessions, and word of what changed. In this
 * process alone, in Redis for many machines, or in the primary for the workers of one machine.
 */
import type { SessionStore } from '../../policy/session.js'
import type { CounterStore } from './counter-store.js'

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
