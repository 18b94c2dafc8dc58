import type { Environment, KeyRow } from '../../contracts/key-store.js'

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
  max_concurrent: number | null
  hash: Uint8Array
  created_at: number
  last_used_at: number | null
  expires_at: number | null
  revoked_at: number | null
  grace_ends_at: number | null
  rotated_to: string | null
  created_by: string | null
  /** Joined by commas; empty where a version before this one stored the key. */
  roots: string
  self_rotation: number
}

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
    max_concurrent: row.maxConcurrent,
    hash: row.hash,
    created_at: row.createdAt,
    last_used_at: row.lastUsedAt,
    expires_at: row.expiresAt,
    revoked_at: row.revokedAt,
    grace_ends_at: row.graceEndsAt,
    rotated_to: row.rotatedTo,
    created_by: row.createdBy,
    roots: row.roots.join(','),
    self_rotation: row.selfRotation ? 1 : 0
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
    maxConcurrent: row.max_concurrent,
    hash: row.hash,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    graceEndsAt: row.grace_ends_at,
    rotatedTo: row.rotated_to,
    createdBy: row.created_by,
    roots: row.roots === '' ? [row.lineage] : row.roots.split(','),
    selfRotation: row.self_rotation === 1
  }
}
