import type { ReviewRow, ReviewState, ReviewSurface } from '../../review-store.js'

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
