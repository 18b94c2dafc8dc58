/** The contracts of the stores of reviews, deliveries and exceptions. `index.ts` has the rules of all contracts. */
import type { ReviewBound, ReviewBounds } from '../../base/settings.js'
import type { Category } from '../../policy/evaluation.js'

export const reviewStates = ['pending', 'permitted', 'forbidden'] as const
/** Stored states; `expired` depends on the clock and is never stored. */
export type ReviewState = (typeof reviewStates)[number]
export const reviewSurfaces = ['evaluate', 'chat', 'answer', 'mcp_definition', 'mcp_call', 'mcp_result'] as const
export type ReviewSurface = (typeof reviewSurfaces)[number]

/** A review at rest. The texts are sealed (see `sealing/seal.ts`): the store never holds a readable one. */
export interface ReviewRow {
  reviewId: string
  account: string
  /** The key that caused it, and the lineage of that key, which outlives a rotation. */
  keyId: string
  lineage: string
  surface: ReviewSurface
  /** Route of the gateway: the same request on another route is a different one. */
  route: string
  /** `name@version` of the constitution that diverted. */
  policy: string
  /** SHA-256 of the canonical bytes, hex. */
  digest: string
  /** Null once deleted, like every sealed text. */
  sealedRequest: Uint8Array | null
  sealedContext: Uint8Array | null
  /** The turns of its session before it. */
  sealedHistory: Uint8Array | null
  sealedNote: Uint8Array | null
  /** Note of the first of two approvers. */
  sealedApprovalNote: Uint8Array | null
  state: ReviewState
  riskScore: number
  matchedRules: readonly string[]
  /** Categories of the detections, each once. */
  categories: readonly Category[]
  /** JSON array of detections: spans and categories, no text. */
  detections: string
  createdAt: number
  /** The first moment at which the review no longer counts. */
  expiresAt: number
  /** The claimant, and the end of the claim. */
  claimedBy: string | null
  claimedUntil: number | null
  /** Under the two-person rule, the first approver. */
  approvedBy: string | null
  approvedAt: number | null
  decidedAt: number | null
  decidedBy: string | null
  usedAt: number | null
  /** When the texts were deleted. */
  purgedAt: number | null
}

/** Bytes of its sealed texts in the store. */
export function sealedBytes({ sealedRequest, sealedContext, sealedHistory }: ReviewRow): number {
  return [sealedRequest, sealedContext, sealedHistory].reduce((sum, sealed) => sum + (sealed?.length ?? 0), 0)
}

export const unbounded: ReviewBounds = { key: Infinity, account: Infinity, total: Infinity, bytes: Infinity }

/** A new or pending review; or the reached bound, with nothing stored. */
export type Opened =
  | { reviewId: string; created: boolean; full?: undefined }
  | { full: ReviewBound; created: false; reviewId?: undefined }

/** The identity of a request for reviews. */
export interface ReviewSubject {
  account: string
  lineage: string
  surface: ReviewSurface
  route: string
  digest: string
}

/** `expired` is `pending` past its expiry; the stored states are narrowed to match: `pending` means still open. */
export type ReviewFilter = ReviewState | 'expired'

export interface ReviewPage {
  state?: ReviewFilter | undefined
  category?: Category | undefined
  keyId?: string | undefined
  /** Both exclusive. */
  createdBefore?: number | undefined
  createdAfter?: number | undefined
  /** Divides `pending` from `expired`. */
  now: number
  /** Default: newest. */
  order?: 'newest' | 'oldest' | undefined
  /** An exclusive review id, in that order. */
  after?: string | undefined
  limit: number
}

/** Webhook messages about a change of a review, stored in its transaction and only if the change is made. */
type Notices = readonly DeliveryRow[]

export interface ReviewStore {
  /**
   * Stores the review, unless one of the same subject is pending and unexpired at `row.createdAt`: then nothing is
   * stored and the id of that one is returned. Nothing is stored beyond the bounds at `row.createdAt` either. Atomic:
   * concurrent calls on all nodes never exceed the bounds.
   * @param bounds default: none
   */
  open(row: ReviewRow, notices?: Notices, bounds?: ReviewBounds): Promise<Opened>
  get(account: string, reviewId: string): Promise<ReviewRow | undefined>
  /** Without texts: every sealed one is null. */
  list(account: string, page: ReviewPage): Promise<ReviewRow[]>
  /** Reviews of one subject that are unexpired at `now` and not used, newest first. */
  current(subject: ReviewSubject, now: number): Promise<ReviewRow[]>
  /** Compare and set: claims an open review that nobody else has claimed at `at`; false otherwise. */
  claim(account: string, reviewId: string, claim: { by: string; at: number; until: number }): Promise<boolean>
  /** Ends a claim; false where `by` has none. */
  release(account: string, reviewId: string, by: string): Promise<boolean>
  /**
   * Compare and set: records the first of two permits of an open review that nobody else has claimed; false where it is
   * not open, is claimed by someone else, or has one. Ends the claim.
   */
  approve(
    account: string,
    reviewId: string,
    approval: { by: string; at: number; sealedNote: Uint8Array | null },
    notices?: Notices
  ): Promise<boolean>
  /**
   * Compare and set: decides where the review is pending and unexpired at `at`, and not claimed by someone else; with
   * `approvedBy`, only where it has that first permit. False otherwise.
   */
  decide(
    account: string,
    reviewId: string,
    decision: {
      state: 'permitted' | 'forbidden'
      at: number
      by: string
      sealedNote: Uint8Array | null
      /** The first approver, where a permit needs two; the caller has checked that they differ. */
      approvedBy?: string | undefined
    },
    notices?: Notices
  ): Promise<boolean>
  /** Compare and set: uses up a permit that is unused and unexpired at `at`; false where it is not. */
  use(account: string, reviewId: string, at: number): Promise<boolean>
  /** Over all accounts: the number of reviews pending and unexpired at `now`, and the creation time of the oldest. */
  pending(now: number): Promise<{ depth: number; oldestCreatedAt: number | undefined }>
  /**
   * Over all accounts: deletes every sealed text of reviews that were decided, or expired undecided, before
   * `endedBefore`. Only facts remain. @returns the number of reviews, at most `limit`
   */
  purgeTexts(wanted: { endedBefore: number; at: number; limit: number }): Promise<number>
}

/** Receivers of messages: `review.webhook`, `notices.webhook`, `notices.email`. */
export const channels = ['review', 'webhook', 'email'] as const
export type Channel = (typeof channels)[number]

/** One undelivered message, stored in the transaction of the change that it reports. */
export interface DeliveryRow {
  deliveryId: string
  account: string
  channel: Channel
  event: string
  /** Id of the review or key that it reports, or a kind of alert. */
  subject: string
  body: string
  /** `dead`: given up. */
  state: 'waiting' | 'dead'
  attempts: number
  /** Null where it is dead. */
  nextAt: number | null
  lastError: string | null
  createdAt: number
}

export interface DeliveryStore {
  /**
   * Takes messages of some channels that are due at `now`, longest due first, each leased to one caller until
   * `leasedUntil`.
   */
  take(wanted: {
    channels: readonly Channel[]
    now: number
    leasedUntil: number
    limit: number
  }): Promise<DeliveryRow[]>
  /** Removes a delivered message. */
  remove(deliveryId: string): Promise<void>
  /** @param outcome.nextAt null: given up */
  fail(deliveryId: string, outcome: { attempts: number; nextAt: number | null; error: string }): Promise<void>
  /** In order of creation; `after` is exclusive. */
  list(
    account: string,
    page: { state?: DeliveryRow['state'] | undefined; after?: string | undefined; limit: number }
  ): Promise<DeliveryRow[]>
  /** Makes a dead message wait again, due at `at`; undefined without one. */
  revive(account: string, deliveryId: string, at: number): Promise<DeliveryRow | undefined>
  /** Over all accounts; 10,000 stands for that many or more. */
  dead(): Promise<number>
  /** Removes the dead that were created before. @returns how many */
  purge(createdBefore: number): Promise<number>
}

export const exceptionStates = ['proposed', 'accepted', 'rejected', 'revoked'] as const
export type ExceptionState = (typeof exceptionStates)[number]

/** A proposed exception to a wrong decision, and its state. It holds fingerprints of texts, no text. */
export interface ExceptionRow {
  exceptionId: string
  account: string
  evaluationId: string
  /** `name@version` of the constitution that decided. */
  policy: string
  rules: readonly string[]
  /** Keyed fingerprints of a rule and a text each: see `review/fingerprint.ts`. */
  fingerprints: readonly string[]
  /** The affected client. */
  lineage: string
  /** The affected key; null for a proposal of an earlier version. */
  causedBy: string | null
  /** Whether it is valid for that client, or for the whole account. */
  scope: 'key' | 'account'
  state: ExceptionState
  sealedNote: Uint8Array | null
  proposedBy: string
  proposedAt: number
  decidedBy: string | null
  decidedAt: number | null
  /** The first moment at which it is no longer valid; null until accepted. */
  expiresAt: number | null
}

export interface ExceptionStore {
  /** Stores a proposal, unless one for the same evaluation is waiting, whose id is then returned. Atomic. */
  propose(row: ExceptionRow): Promise<{ exceptionId: string; created: boolean }>
  get(exceptionId: string): Promise<ExceptionRow | undefined>
  /** Over all accounts, newest first; `after` is an exclusive id. */
  list(page: { state?: ExceptionState | undefined; after?: string | undefined; limit: number }): Promise<ExceptionRow[]>
  /** Compare and set from one state to another; false where it is not in the first. */
  decide(
    exceptionId: string,
    from: ExceptionState,
    decision: Pick<ExceptionRow, 'state' | 'scope' | 'decidedBy' | 'decidedAt' | 'expiresAt'>
  ): Promise<boolean>
  /** Exceptions valid at `now`, over all accounts, in no order. */
  active(now: number): Promise<ExceptionRow[]>
}
