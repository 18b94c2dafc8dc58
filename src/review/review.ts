/** The shapes of a review as other rooms and clients see it. */
import type { JsonObject, Role } from '../base/chat.js'
import type { Caller } from '../identity/caller.js'
import type { Detection, Evaluation } from '../policy/evaluation.js'
import type { ReviewFilter, ReviewSurface } from '../storage/contracts/reviews.js'

export type { Opened } from '../storage/contracts/reviews.js'

/** Who reads or decides: a key, or a person who is signed in. */
export type Reviewer = Pick<Caller, 'keyId' | 'accountId' | 'lineage' | 'roots' | 'scopes'>

/** Something that was said before what is under review. */
export interface Turn {
  role: Role
  text: string
}

/** What is put before a person. */
export interface ReviewRequest {
  surface: ReviewSurface
  account: string
  keyId: string
  lineage: string
  /** Id of the route; `evaluate` for the evaluate endpoint. */
  route: string
  /** `name@version` */
  policy: string
  /** The exact bytes that were judged. Whatever must match for a permit to apply belongs in them. */
  canonical: Uint8Array
  evaluation: Pick<Evaluation, 'risk_score' | 'matched_rules' | 'detections'>
  /** Shown to the reviewer beside the text; not part of the digest. */
  context?: JsonObject | undefined
  /** What was said before it and does not stand in it, oldest first: in its session; of an answer, what it answers too. */
  history?: readonly Turn[] | undefined
}

/** What tells one request from another: see `ReviewSubject`. */
export type ReviewedRequest = Pick<ReviewRequest, 'surface' | 'account' | 'lineage' | 'route' | 'canonical'>

/** `evaluate` adjudications change the record only; `chat` permits let the same request pass once. */
export type ReviewStatus = ReviewFilter

/** What the key that caused a review reads of it: no text, no notes, no findings. */
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

/** What a holder of `pdp:adjudicate` reads. Times are ISO 8601 UTC. */
export interface ReviewRecord extends ReviewStatusRecord {
  /** Id of the key that caused it. */
  key_id: string
  /** Id of the key or user that decided. */
  decided_by: string | null
  /** Who has it before them now; others may decide once this is over. */
  claimed_by: string | null
  claimed_until: string | null
  /** Under the two-person rule: who has permitted it first. */
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
  /** What was said before it, oldest first; null where nothing is known of that or it was deleted. */
  history: Turn[] | null
  note: string | null
  approval_note: string | null
}

/** How the past decides over a request that the policy diverts now. */
export type Standing = 'permitted' | 'forbidden' | 'pending' | 'none'
