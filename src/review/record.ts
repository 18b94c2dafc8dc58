/** Converts a stored review to the record for its reader. */

import { isoOrNull, isoTime } from '../base/units.js'
import { type Seal, sealedFor } from '../sealing/seal.js'
import type { ReviewRow } from '../storage/contracts/reviews.js'
import type { ReviewDetail, ReviewRecord, ReviewStatus, ReviewStatusRecord } from './review.js'

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
    created_at: isoTime(row.createdAt),
    expires_at: isoTime(row.expiresAt),
    decided_at: isoOrNull(row.decidedAt),
    used_at: isoOrNull(row.usedAt)
  }
}

export function reviewRecord(row: ReviewRow, now: number): ReviewRecord {
  const isClaimed = reviewStatus(row, now) === 'pending' && row.claimedUntil !== null && now < row.claimedUntil
  return {
    ...statusRecord(row, now),
    key_id: row.keyId,
    decided_by: row.decidedBy,
    claimed_by: isClaimed ? row.claimedBy : null,
    claimed_until: isClaimed ? isoOrNull(row.claimedUntil) : null,
    approved_by: row.approvedBy,
    approved_at: isoOrNull(row.approvedAt),
    risk_score: row.riskScore,
    matched_rules: [...row.matchedRules],
    categories: [...row.categories],
    detections: JSON.parse(row.detections),
    digest: row.digest,
    purged_at: isoOrNull(row.purgedAt)
  }
}

/** @throws an Error where a text cannot be unsealed: with another data key, or after damage */
export function reviewDetail(row: ReviewRow, now: number, seal: Seal): ReviewDetail {
  const unsealed = (field: SealedField, sealed: Uint8Array | null): string | null =>
    sealed && seal.open(sealed, sealedFor(row.reviewId, field)).toString('utf8')
  const context = unsealed('context', row.sealedContext)
  const history = unsealed('history', row.sealedHistory)
  return {
    ...reviewRecord(row, now),
    text: unsealed('request', row.sealedRequest),
    context: context === null ? null : JSON.parse(context),
    history: history === null ? null : JSON.parse(history),
    note: unsealed('note', row.sealedNote),
    approval_note: unsealed('approval_note', row.sealedApprovalNote)
  }
}

export type SealedField = 'request' | 'context' | 'history' | 'note' | 'approval_note'
