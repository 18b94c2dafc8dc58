/** Types of reviews for other rooms and clients. */
import type { JsonObject, Role } from '../base/chat.js'
import type { Caller } from '../identity/caller.js'
import type { Detection, Evaluation } from '../policy/evaluation.js'
import type { ReviewFilter, ReviewSurface } from '../storage/contracts/reviews.js'

export type { Opened } from '../storage/contracts/reviews.js'

/** A reader or decider: a key, or a signed-in person. */
export type Reviewer = Pick<Caller, 'keyId' | 'accountId' | 'lineage' | 'roots' | 'scopes'>

/** An earlier turn of the conversation under review. */
export interface Turn {
  role: Role
  text: string
}

/** The content of a review. */
export interface ReviewRequest {
  surface: ReviewSurface
  account: string
  keyId: string
  lineage: string
  /** Id of the route; `evaluate` for the evaluate endpoint. */
  route: string
  /** `name@version` */
  policy: string
  /** The exact judged bytes. A permit applies only to equal bytes. */
  canonical: Uint8Array
  evaluation: Pick<Evaluation, 'risk_score' | 'matched_rules' | 'detections'>
  /** Shown to the reviewer beside the text; not part of the digest. */
  context?: JsonObject | undefined
  /** Earlier turns of its session that it does not repeat, oldest first; for an answer, its request too. */
  history?: readonly Turn[] | undefined
}

/** The identity of a request: see `ReviewSubject`. */
export type ReviewedRequest = Pick<ReviewRequest, 'surface' | 'account' | 'lineage' | 'route' | 'canonical'>

/** `evaluate` adjudications change the record only; `chat` permits let the same request pass once. */
export type ReviewStatus = ReviewFilter

/** A review for the key that caused it: no text, no notes, no findings. */
export interface ReviewStatusRecord {
  review_id: string
  status: ReviewStatus
  surface: ReviewSurface
  route: string
  policy: string
  created_at: string
  expires_at: string
  decided_at: string | null
  used_at: string | null
}

/** A review for holders of `pdp:adjudicate`. Times are ISO 8601 UTC. */
export interface ReviewRecord extends ReviewStatusRecord {
  /** Id of the key that caused it. */
  key_id: string
  /** Id of the key or user that decided. */
  decided_by: string | null
  /** The current claimant; others may decide once the claim is over. */
  claimed_by: string | null
  claimed_until: string | null
  /** Under the two-person rule: the first approver. */
  approved_by: string | null
  approved_at: string | null
  risk_score: number
  matched_rules: string[]
  categories: string[]
  detections: Detection[]
  /** SHA-256 of the canonical bytes, hex. */
  digest: string
  /** When the texts were deleted. */
  purged_at: string | null
}

/** One review with its texts unsealed. */
export interface ReviewDetail extends ReviewRecord {
  /** The canonical bytes as text: JSON on chat surfaces. Null once deleted, like the context and the notes. */
  text: string | null
  context: JsonObject | null
  /** Earlier turns, oldest first; null where unknown or deleted. */
  history: Turn[] | null
  note: string | null
  approval_note: string | null
}

/** The earlier decision that applies to a diverted request. */
export type Standing = 'permitted' | 'forbidden' | 'pending' | 'none'
