/** A stored review as it is shown, by who reads it. */
import type { ReviewRow } from '../storage/contracts.js'
import type { ReviewDetail, ReviewRecord, ReviewStatus, ReviewStatusRecord } from './review.js'
import type { Seal } from './seal.js'

/** @param now wall time, ms: at `expiresAt` a review that nobody decided is expired */
export function reviewStatus(row: ReviewRow, now: number): ReviewStatus {
  return row.state === 'pending' && now >= row.expiresAt ? 'expired' : row.state
}

export function statusRecord(row: ReviewRow, now: number): ReviewStatusRecord {
  return {
    review_id: row.reviewId,
    status: reviewStatus(row, now),
    surface: row.surface,
    route: row.route,
    policy: row.policy,
    created_at: iso(row.createdAt),
    expires_at: iso(row.expiresAt),
    decided_at: isoOrNull(row.decidedAt),
    used_at: isoOrNull(row.usedAt)
  }
}

export function reviewRecord(row: ReviewRow, now: number): ReviewRecord {
  return {
    ...statusRecord(row, now),
    key_id: row.keyId,
    decided_by: row.decidedBy,
    risk_score: row.riskScore,
    matched_rules: [...row.matchedRules],
    detections: JSON.parse(row.detections),
    digest: row.digest
  }
}

/** @throws an Error where a text cannot be unsealed: with another data key, or after damage */
export function reviewDetail(row: ReviewRow, now: number, seal: Seal): ReviewDetail {
  const unsealed = (field: SealedField, sealed: Uint8Array | null): string | null =>
    sealed && seal.open(sealed, sealedFor(row.reviewId, field)).toString('utf8')
  const context = unsealed('context', row.sealedContext)
  return {
    ...reviewRecord(row, now),
    text: unsealed('request', row.sealedRequest) ?? '',
    context: context === null ? null : JSON.parse(context),
    note: unsealed('note', row.sealedNote)
  }
}

export type SealedField = 'request' | 'context' | 'note'

/** What a sealed text is bound to: this field of this review. */
export function sealedFor(reviewId: string, field: SealedField): string {
  return `${reviewId}:${field}`
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms)
}
