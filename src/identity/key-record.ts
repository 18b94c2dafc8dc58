/** Computes the status and the record of a stored key; the status depends on the clock and is never stored. */
import type { KeyRow } from '../storage/contracts/index.js'
import type { KeyRecord, KeyStatus } from './caller.js'
import { shownPrefix } from './key-format.js'
import { isScope } from './scopes.js'

/** @param now wall time, ms. Limits are exclusive: at `expiresAt` a key is expired. */
export function keyStatus(row: KeyRow, now: number): KeyStatus {
  if (row.revokedAt !== null) return 'revoked'
  if (row.graceEndsAt !== null) return now < row.graceEndsAt ? 'retiring' : 'revoked'
  return row.expiresAt !== null && now >= row.expiresAt ? 'expired' : 'active'
}

/** @param usedAt a use that is not stored yet */
export function keyRecord(row: KeyRow, now: number, usedAt: number | undefined): KeyRecord {
  return {
    key_id: row.keyId,
    name: row.name,
    prefix: shownPrefix(row.environment, row.prefix),
    environment: row.environment,
    scopes: row.scopes.filter(isScope),
    ip_allowlist: [...row.ipAllowlist],
    status: keyStatus(row, now),
    created_at: iso(row.createdAt),
    last_used_at: isoOrNull(usedAt ?? row.lastUsedAt),
    expires_at: isoOrNull(row.expiresAt),
    revoked_at: isoOrNull(row.revokedAt ?? row.graceEndsAt),
    rotated_to: row.rotatedTo,
    rate_limit_per_minute: row.rateLimitPerMinute,
    max_concurrent: row.maxConcurrent,
    created_by: row.createdBy,
    lineage: row.lineage,
    roots: [...row.roots],
    self_rotation: row.selfRotation,
    terms:
      row.termsUrl === null
        ? null
        : {
            url: row.termsUrl,
            accepted_at: iso(row.termsAcceptedAt ?? row.createdAt),
            accepted_by: row.termsAcceptedBy
          }
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms)
}
