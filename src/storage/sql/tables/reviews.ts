import type { Category } from '../../../policy/evaluation.js'
import type { DeliveryRow } from '../../contracts/delivery-store.js'
import { type ReviewRow, type ReviewState, type ReviewSurface, sealedBytes } from '../../contracts/review-store.js'

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
  sealed_approval_note: Uint8Array | null
  /** Each between commas, so that one of them is found by its name. */
  categories: string
  claimed_by: string | null
  claimed_until: number | null
  approved_by: string | null
  approved_at: number | null
  purged_at: number | null
  sealed_history: Uint8Array | null
  bytes: number
}

export interface DeliveriesTable {
  delivery_id: string
  account: string
  event: string
  /** Of the review, or of the key, that it tells of. */
  review_id: string
  body: string
  state: 'waiting' | 'dead'
  attempts: number
  next_at: number | null
  last_error: string | null
  created_at: number
}

/** What stands where a text was deleted: the column takes no null. */
const deleted = new Uint8Array()

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
    sealed_request: row.sealedRequest ?? deleted,
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
    used_at: row.usedAt,
    sealed_approval_note: row.sealedApprovalNote,
    categories: `,${row.categories.map((category) => `${category},`).join('')}`,
    claimed_by: row.claimedBy,
    claimed_until: row.claimedUntil,
    approved_by: row.approvedBy,
    approved_at: row.approvedAt,
    purged_at: row.purgedAt,
    sealed_history: row.sealedHistory,
    bytes: sealedBytes(row)
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
    sealedRequest: row.purged_at === null ? row.sealed_request : null,
    sealedContext: row.sealed_context,
    sealedHistory: row.sealed_history,
    sealedNote: row.sealed_note,
    state: row.state,
    riskScore: row.risk_score,
    matchedRules: JSON.parse(row.matched_rules),
    detections: row.detections,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
    usedAt: row.used_at,
    sealedApprovalNote: row.sealed_approval_note,
    categories: row.categories.split(',').filter((category) => category !== '') as Category[],
    claimedBy: row.claimed_by,
    claimedUntil: row.claimed_until,
    approvedBy: row.approved_by,
    approvedAt: row.approved_at,
    purgedAt: row.purged_at
  }
}

export function fromDelivery(row: DeliveryRow): DeliveriesTable {
  return {
    delivery_id: row.deliveryId,
    account: row.account,
    event: row.event,
    review_id: row.subject,
    body: row.body,
    state: row.state,
    attempts: row.attempts,
    next_at: row.nextAt,
    last_error: row.lastError,
    created_at: row.createdAt
  }
}

export function toDelivery(row: DeliveriesTable): DeliveryRow {
  return {
    deliveryId: row.delivery_id,
    account: row.account,
    event: row.event,
    subject: row.review_id,
    body: row.body,
    state: row.state,
    attempts: row.attempts,
    nextAt: row.next_at,
    lastError: row.last_error,
    createdAt: row.created_at
  }
}

/** What a deletion of the texts sets. */
export const withoutTexts = {
  sealed_request: deleted,
  sealed_context: null,
  sealed_history: null,
  sealed_note: null,
  sealed_approval_note: null
}
