/**
 * The tables as Kysely sees them, and the way between rows and the contract's shapes. Times are bigint milliseconds,
 * lists and objects are JSON text, sealed texts and hashes are bytes: what SQLite and PostgreSQL both hold.
 */
import type { Generated, Kysely, Selectable } from 'kysely'
import type { ConstitutionOrigin } from '../constitution-store.js'
import type { AuditRow, Environment, KeyRow, ReviewRow, ReviewState, ReviewSurface } from '../contracts.js'

export interface AccountsTable {
  id: string
  created_at: number
}

export interface KeysTable {
  key_id: string
  account: string
  lineage: string
  prefix: string
  environment: Environment
  name: string
  scopes: string
  ip_allowlist: string
  rate_limit_per_minute: number | null
  hash: Uint8Array
  created_at: number
  last_used_at: number | null
  expires_at: number | null
  revoked_at: number | null
  grace_ends_at: number | null
  rotated_to: string | null
}

export interface ReviewsTable {
  review_id: string
  account: string
  key_id: string
  lineage: string
  surface: ReviewSurface
  route: string
  policy: string
  digest: string
  sealed_request: Uint8Array
  sealed_context: Uint8Array | null
  sealed_note: Uint8Array | null
  state: ReviewState
  risk_score: number
  matched_rules: string
  detections: string
  created_at: number
  expires_at: number
  decided_at: number | null
  decided_by: string | null
  used_at: number | null
}

export interface AuditTable {
  seq: Generated<number>
  at: number
  kind: string
  account: string | null
  key_id: string | null
  data: string
}

/** One row a name: see `ConstitutionState`. */
export interface ConstitutionsTable {
  account: string
  name: string
  versions: number
  latest: number
  active: Generated<number | null>
  activated_origin: Generated<ConstitutionOrigin | null>
  activated_at: Generated<number | null>
  activated_by: Generated<string | null>
  file_digest: Generated<string | null>
}

export interface VersionsTable {
  account: string
  name: string
  version: number
  declared: string
  digest: string
  length: number
  origin: ConstitutionOrigin
  note: string | null
  source: string
  created_at: number
  created_by: string | null
}

export interface ActivationsTable {
  seq: Generated<number>
  account: string
  name: string
  from_version: number | null
  to_version: number
  at: number
  by: string | null
  origin: ConstitutionOrigin
}

export interface Tables {
  accounts: AccountsTable
  keys: KeysTable
  reviews: ReviewsTable
  audit: AuditTable
  constitutions: ConstitutionsTable
  constitution_versions: VersionsTable
  constitution_activations: ActivationsTable
}
export type Database = Kysely<Tables>

export function fromKey(row: KeyRow): KeysTable {
  return {
    key_id: row.keyId,
    account: row.account,
    lineage: row.lineage,
    prefix: row.prefix,
    environment: row.environment,
    name: row.name,
    scopes: JSON.stringify(row.scopes),
    ip_allowlist: JSON.stringify(row.ipAllowlist),
    rate_limit_per_minute: row.rateLimitPerMinute,
    hash: row.hash,
    created_at: row.createdAt,
    last_used_at: row.lastUsedAt,
    expires_at: row.expiresAt,
    revoked_at: row.revokedAt,
    grace_ends_at: row.graceEndsAt,
    rotated_to: row.rotatedTo
  }
}

export function toKey(row: KeysTable): KeyRow {
  return {
    keyId: row.key_id,
    account: row.account,
    lineage: row.lineage,
    prefix: row.prefix,
    environment: row.environment,
    name: row.name,
    scopes: JSON.parse(row.scopes),
    ipAllowlist: JSON.parse(row.ip_allowlist),
    rateLimitPerMinute: row.rate_limit_per_minute,
    hash: row.hash,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    graceEndsAt: row.grace_ends_at,
    rotatedTo: row.rotated_to
  }
}

export function fromReview(row: ReviewRow): ReviewsTable {
  return {
    review_id: row.reviewId,
    account: row.account,
    key_id: row.keyId,
    lineage: row.lineage,
    surface: row.surface,
    route: row.route,
    policy: row.policy,
    digest: row.digest,
    sealed_request: row.sealedRequest,
    sealed_context: row.sealedContext,
    sealed_note: row.sealedNote,
    state: row.state,
    risk_score: row.riskScore,
    matched_rules: JSON.stringify(row.matchedRules),
    detections: row.detections,
    created_at: row.createdAt,
    expires_at: row.expiresAt,
    decided_at: row.decidedAt,
    decided_by: row.decidedBy,
    used_at: row.usedAt
  }
}

export function toReview(row: ReviewsTable): ReviewRow {
  return {
    reviewId: row.review_id,
    account: row.account,
    keyId: row.key_id,
    lineage: row.lineage,
    surface: row.surface,
    route: row.route,
    policy: row.policy,
    digest: row.digest,
    sealedRequest: row.sealed_request,
    sealedContext: row.sealed_context,
    sealedNote: row.sealed_note,
    state: row.state,
    riskScore: row.risk_score,
    matchedRules: JSON.parse(row.matched_rules),
    detections: row.detections,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
    usedAt: row.used_at
  }
}

export function toAudit(row: Selectable<AuditTable>): AuditRow & { seq: number } {
  return {
    seq: row.seq,
    at: row.at,
    kind: row.kind,
    account: row.account,
    keyId: row.key_id,
    data: JSON.parse(row.data)
  }
}
