/** Types of callers: the facts about an authenticated key that other rooms use. */
import type { Environment } from '../storage/contracts/index.js'
import type { Scope } from './scopes.js'

export interface Caller {
  readonly keyId: string
  readonly accountId: string
  readonly scopes: readonly Scope[]
  readonly environment: Environment
  /** Id of the first key of a chain of rotations; limits and reviews belong to it. */
  readonly lineage: string
  /** People and keys that it descends from: see `hands.ts`. */
  readonly roots: readonly string[]
  readonly limitPerMinute: number
  /** Requests that may be under way at once. */
  readonly maxConcurrent: number
  /** As shown: `slg_live_ab12CD34`. */
  readonly prefix: string
}

/** A manager of keys: a caller, or an operator at the command line, who has no key. */
export type Actor = Pick<Caller, 'accountId' | 'scopes'> &
  ({ readonly keyId?: undefined } | Pick<Caller, 'keyId' | 'lineage' | 'roots'>)

export const keyStatuses = ['active', 'retiring', 'revoked', 'expired'] as const
export type KeyStatus = (typeof keyStatuses)[number]

/** A key as it is shown: docs/api.md, section 3. Times are ISO 8601 UTC. */
export interface KeyRecord {
  key_id: string
  name: string
  prefix: string
  environment: Environment
  scopes: Scope[]
  ip_allowlist: string[]
  status: KeyStatus
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  revoked_at: string | null
  rotated_to: string | null
  /** Null: the limit of its environment. */
  rate_limit_per_minute: number | null
  /** Requests under way at once. Null: `limits.concurrent_per_key`. */
  max_concurrent: number | null
  /** Id of the key or person that created or rotated it over the API; null: the command line, or a version before. */
  created_by: string | null
  /** Id of the first key of its chain of rotations. */
  lineage: string
  /** Ids of the people, and of the first keys of chains, that it descends from. */
  roots: string[]
  self_rotation: boolean
  /** The accepted terms, with time and acceptor (null: the command line); null without terms. */
  terms: { url: string; accepted_at: string; accepted_by: string | null } | null
}
