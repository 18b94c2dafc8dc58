/** The contract of what keeps the keys. `index.ts` says what holds for every contract. */
import type { DeliveryRow } from './reviews.js'

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
  /** Requests under way at once. Null: `limits.concurrent_per_key`. */
  maxConcurrent: number | null
  hash: Uint8Array
  createdAt: number
  lastUsedAt: number | null
  expiresAt: number | null
  /** Set by a revocation. Never in the future, and final: no later step of the clock revives the key. */
  revokedAt: number | null
  /** Set by a rotation: the first moment at which the key no longer works. */
  graceEndsAt: number | null
  rotatedTo: string | null
  /** Id of the key or person that created or rotated it over the API; null: the command line, or a version before. */
  createdBy: string | null
  /** See `identity/hands.ts`; never empty, and never changed. */
  roots: readonly string[]
  /** Whether the key may rotate itself without a scope for that. */
  selfRotation: boolean
  /** The terms that were accepted for it, when and by whom; null where none were asked for. A rotation keeps them. */
  termsUrl: string | null
  termsAcceptedAt: number | null
  /** Id of the key or person; null: the command line. */
  termsAcceptedBy: string | null
}

export interface KeyPage {
  /** The id of the first key of a chain of rotations. */
  lineage?: string | undefined
  after?: string | undefined
  limit?: number | undefined
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
  /**
   * Over all accounts, keys that work and that end by themselves after `now` and at `until` or before, the first to end
   * first. Those that were rotated are none of them.
   */
  expiring(wanted: { now: number; until: number; limit: number }): Promise<KeyRow[]>
  /** In order of `keyId`, which is order of creation; `after` is exclusive. */
  list(account: string, page: KeyPage): Promise<KeyRow[]>
  /**
   * Revokes where the key is neither revoked nor past its grace at `at`; returns the row as it then is, changed or not.
   * Undefined: no such key in this account.
   */
  revoke(account: string, keyId: string, at: number): Promise<KeyRow | undefined>
  /**
   * The same for every key of a lineage, a successor that is being stored at that moment included: after it, none of them
   * works. Returns them all, in order of `keyId`; none: no such lineage in this account.
   */
  revokeLineage(account: string, lineage: string, at: number): Promise<KeyRow[]>
  /**
   * In one transaction, stores `successor` and lets the old key end at `graceEndsAt`, only where the old key is neither
   * revoked, nor rotated, nor expired at `at`. False where it is: nothing changed, and nobody is told.
   * @param notices what the webhook is told of it
   */
  rotate(
    account: string,
    keyId: string,
    at: number,
    graceEndsAt: number,
    successor: KeyRow,
    notices?: readonly DeliveryRow[]
  ): Promise<boolean>
  /** Moves `lastUsedAt` of many keys forward, never back. Unknown ids are skipped. */
  touch(uses: ReadonlyMap<string, number>): Promise<void>
}
