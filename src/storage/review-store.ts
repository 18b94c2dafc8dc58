/** The contract of what keeps the reviews. `contracts.ts` says what holds for every contract. */

export const reviewStates = ['pending', 'permitted', 'forbidden'] as const
/** What is stored; `expired` is a matter of the clock, never written. */
export type ReviewState = (typeof reviewStates)[number]
export type ReviewSurface = 'evaluate' | 'chat' | 'answer'

/** A review at rest. The texts are sealed (see `review/seal.ts`): the store never holds a readable one. */
export interface ReviewRow {
  reviewId: string
  account: string
  /** The key that caused it, and the lineage of that key, which outlives a rotation. */
  keyId: string
  lineage: string
  surface: ReviewSurface
  /** Which route of the gateway: the same request on another route is another request. */
  route: string
  /** `name@version` of the constitution that diverted. */
  policy: string
  /** SHA-256 of the canonical bytes, hex. */
  digest: string
  sealedRequest: Uint8Array
  sealedContext: Uint8Array | null
  sealedNote: Uint8Array | null
  state: ReviewState
  riskScore: number
  matchedRules: readonly string[]
  /** JSON array of detections: spans and categories, no text. */
  detections: string
  createdAt: number
  /** The first moment at which the review no longer counts. */
  expiresAt: number
  decidedAt: number | null
  decidedBy: string | null
  usedAt: number | null
}

/** What makes two requests the same request for a review. */
export interface ReviewSubject {
  account: string
  lineage: string
  surface: ReviewSurface
  route: string
  digest: string
}

/** `expired` is `pending` past its expiry; the stored states are narrowed to match: `pending` means still open. */
export type ReviewFilter = ReviewState | 'expired'

export interface ReviewStore {
  /**
   * Stores the review, unless one of the same subject is pending and unexpired at `row.createdAt`: then nothing is stored
   * and the id of that one is returned. Atomic.
   */
  open(row: ReviewRow): Promise<{ reviewId: string; created: boolean }>
  get(account: string, reviewId: string): Promise<ReviewRow | undefined>
  /** Newest first; `before` is an exclusive review id; `now` divides `pending` from `expired`. */
  list(
    account: string,
    page: { state?: ReviewFilter | undefined; now: number; before?: string | undefined; limit: number }
  ): Promise<ReviewRow[]>
  /** Reviews of one subject that are unexpired at `now` and not used, newest first. */
  current(subject: ReviewSubject, now: number): Promise<ReviewRow[]>
  /** Compare and set: decides where the review is pending and unexpired at `at`; false where it is not. */
  decide(
    account: string,
    reviewId: string,
    decision: { state: 'permitted' | 'forbidden'; at: number; by: string; sealedNote: Uint8Array | null }
  ): Promise<boolean>
  /** Compare and set: uses up a permit that is unused and unexpired at `at`; false where it is not. */
  use(account: string, reviewId: string, at: number): Promise<boolean>
  /** Over all accounts: how many are pending and unexpired at `now`, and when the oldest of them was created. */
  pending(now: number): Promise<{ depth: number; oldestCreatedAt: number | undefined }>
}
