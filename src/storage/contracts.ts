/**
 * What every store must do, whatever holds the rows. Each contract has one suite in `test/contracts`, run over every
 * implementation.
 *
 * Times are wall-clock milliseconds since the epoch. Every object query takes the account, so that a foreign object is
 * simply absent. A method that resolves has committed; a method that rejects has changed nothing, and rejects with the
 * Fault `storage_unavailable`, or with `Conflict` where two objects claim one unique value (see `failure.ts`).
 */

import type { ConstitutionStore } from './constitution-store.js'

export type Environment = 'live' | 'test'

/** A key at rest: the SHA-256 of the full key, never the key. */
export interface KeyRow {
  keyId: string
  account: string
  /** The key id of the first key of a chain of rotations: what counters and reviews belong to. */
  lineage: string
  /** The 8 characters that a presented key is looked up by; unique. */
  prefix: string
  environment: Environment
  name: string
  scopes: readonly string[]
  ipAllowlist: readonly string[]
  /** Null: the environment's limit. */
  rateLimitPerMinute: number | null
  hash: Uint8Array
  createdAt: number
  lastUsedAt: number | null
  expiresAt: number | null
  /** Set by a revocation. Never in the future, and final: no later step of the clock revives the key. */
  revokedAt: number | null
  /** Set by a rotation: the first moment at which the key no longer works. */
  graceEndsAt: number | null
  rotatedTo: string | null
}

export interface KeyStore {
  /** Stores a key, and its account where that is new. Rejects with `Conflict` where id or prefix is taken. */
  insert(row: KeyRow): Promise<void>
  /** Stores a key only where the store holds no key at all; false where it does. Two processes that start agree on one. */
  insertFirst(row: KeyRow): Promise<boolean>
  isEmpty(): Promise<boolean>
  /** One lookup by the unique index; its cost does not grow with the number of keys. */
  byPrefix(prefix: string): Promise<KeyRow | undefined>
  get(account: string, keyId: string): Promise<KeyRow | undefined>
  /** In order of `keyId`, which is order of creation; `after` is exclusive. */
  list(account: string, page: { after?: string | undefined; limit?: number | undefined }): Promise<KeyRow[]>
  /**
   * Revokes where the key is neither revoked nor past its grace at `at`; returns the row as it then is, changed or not.
   * Undefined: no such key in this account.
   */
  revoke(account: string, keyId: string, at: number): Promise<KeyRow | undefined>
  /**
   * In one transaction, stores `successor` and lets the old key end at `graceEndsAt`, only where the old key is neither
   * revoked, nor rotated, nor expired at `at`. False where it is: nothing changed.
   */
  rotate(account: string, keyId: string, at: number, graceEndsAt: number, successor: KeyRow): Promise<boolean>
  /** Moves `lastUsedAt` of many keys forward, never back. Unknown ids are skipped. */
  touch(uses: ReadonlyMap<string, number>): Promise<void>
}

export const reviewStates = ['pending', 'permitted', 'forbidden'] as const
/** What is stored; `expired` is a matter of the clock, never written. */
export type ReviewState = (typeof reviewStates)[number]
export type ReviewSurface = 'evaluate' | 'chat' | 'answer'

/** A review at rest. The texts are sealed (see `review/seal.ts`): the store never holds a readable one. */
export interface ReviewRow {
  reviewId: string
  account: string
  /** The key that caused it, and the lineage of that key, which outlives a rotation. */
  keyId: string
  lineage: string
  surface: ReviewSurface
  /** Which route of the gateway: the same request on another route is another request. */
  route: string
  /** `name@version` of the constitution that diverted. */
  policy: string
  /** SHA-256 of the canonical bytes, hex. */
  digest: string
  sealedRequest: Uint8Array
  sealedContext: Uint8Array | null
  sealedNote: Uint8Array | null
  state: ReviewState
  riskScore: number
  matchedRules: readonly string[]
  /** JSON array of detections: spans and categories, no text. */
  detections: string
  createdAt: number
  /** The first moment at which the review no longer counts. */
  expiresAt: number
  decidedAt: number | null
  decidedBy: string | null
  usedAt: number | null
}

/** What makes two requests the same request for a review. */
export interface ReviewSubject {
  account: string
  lineage: string
  surface: ReviewSurface
  route: string
  digest: string
}

/** `expired` is `pending` past its expiry; the stored states are narrowed to match: `pending` means still open. */
export type ReviewFilter = ReviewState | 'expired'

export interface ReviewStore {
  /**
   * Stores the review, unless one of the same subject is pending and unexpired at `row.createdAt`: then nothing is stored
   * and the id of that one is returned. Atomic.
   */
  open(row: ReviewRow): Promise<{ reviewId: string; created: boolean }>
  get(account: string, reviewId: string): Promise<ReviewRow | undefined>
  /** Newest first; `before` is an exclusive review id; `now` divides `pending` from `expired`. */
  list(
    account: string,
    page: { state?: ReviewFilter | undefined; now: number; before?: string | undefined; limit: number }
  ): Promise<ReviewRow[]>
  /** Reviews of one subject that are unexpired at `now` and not used, newest first. */
  current(subject: ReviewSubject, now: number): Promise<ReviewRow[]>
  /** Compare and set: decides where the review is pending and unexpired at `at`; false where it is not. */
  decide(
    account: string,
    reviewId: string,
    decision: { state: 'permitted' | 'forbidden'; at: number; by: string; sealedNote: Uint8Array | null }
  ): Promise<boolean>
  /** Compare and set: uses up a permit that is unused and unexpired at `at`; false where it is not. */
  use(account: string, reviewId: string, at: number): Promise<boolean>
  /** Over all accounts: how many are pending and unexpired at `now`, and when the oldest of them was created. */
  pending(now: number): Promise<{ depth: number; oldestCreatedAt: number | undefined }>
}

/** One line of the audit: facts only, never a text, a key or a matched phrase. */
export interface AuditRow {
  at: number
  /** What happened, in a closed set of the caller's: `key.revoked`, `evaluation`, `fail_open`, … */
  kind: string
  account: string | null
  keyId: string | null
  data: Readonly<Record<string, unknown>>
}

export interface AuditStore {
  /**
   * Queues a row; rows commit in groups, within 100 ms, in order. Never blocks and never throws: while the storage is
   * down the rows wait, up to a bound, past which the oldest are dropped and counted in `dropped`.
   */
  append(row: AuditRow): void
  /** Resolves when every row queued so far is committed; rejects, keeping the rows, where it cannot be. */
  flush(): Promise<void>
  /** In order of appending; `seq` ascends, `after` is exclusive. */
  read(page: { after?: number | undefined; limit: number }): Promise<(AuditRow & { seq: number })[]>
  readonly dropped: number
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

export interface Storage {
  keys: KeyStore
  reviews: ReviewStore
  constitutions: ConstitutionStore
  audit: AuditStore
  /** Resolves where the storage answers, for readiness. */
  ping(): Promise<void>
  /** Commits what is queued, then lets go of everything. Safe to call twice. */
  close(): Promise<void>
}
