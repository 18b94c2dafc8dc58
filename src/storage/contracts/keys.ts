/** The contract of the key store. `index.ts` has the rules of all contracts. */
import type { DeliveryRow } from './reviews.js'

export type Environment = 'live' | 'test'

/** A key at rest: the SHA-256 of the full key, never the key. */
export interface KeyRow {
  keyId: string
  account: string
  /** Id of the first key of a chain of rotations; counters and reviews belong to it. */
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
  /** Set by a revocation. Never in the future, and final: no change of the clock revives the key. */
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
  /** The accepted terms, with time and acceptor; null without terms. A rotation keeps them. */
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
  /** Stores a key only if the store has none; false otherwise. Concurrent starts agree on one key. */
  insertFirst(row: KeyRow): Promise<boolean>
  isEmpty(): Promise<boolean>
  /** One lookup by the unique index; its cost does not grow with the number of keys. */
  byPrefix(prefix: string): Promise<KeyRow | undefined>
  get(account: string, keyId: string): Promise<KeyRow | undefined>
  /**
   * Over all accounts, valid keys that expire after `now` and at `until` or before, soonest first, without rotated
   * keys.
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
   * Revokes every key of a lineage, including a successor that is being stored at that moment. Returns them all, in
   * order of `keyId`; none: no such lineage in this account.
   */
  revokeLineage(account: string, lineage: string, at: number): Promise<KeyRow[]>
  /**
   * In one transaction, stores `successor` and ends the old key at `graceEndsAt`, if the old key is neither revoked,
   * nor rotated, nor expired at `at`. False otherwise, without any change or message.
   * @param notices webhook messages about it
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
