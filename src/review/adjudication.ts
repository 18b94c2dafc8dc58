/**
 * Claims and decisions of reviewers. A claim reserves a review for a while. A review is decided once, and never by the
 * person or key that caused it. Under the two-person rule a permit needs two persons, a refusal one.
 */
import type { Clock } from '../base/clock.js'
import { Fault, invalid } from '../base/errors.js'
import type { ReviewSettings } from '../base/settings.js'
import { isoOrNull } from '../base/units.js'
import type { Hands } from '../identity/hands.js'
import { type Seal, sealedFor } from '../sealing/seal.js'
import type { AuditStore } from '../storage/contracts/audit.js'
import type { ReviewRow, ReviewStore } from '../storage/contracts/reviews.js'
import { reviewDetail, reviewRecord, reviewStatus } from './record.js'
import type { ReviewDetail, Reviewer, ReviewRecord } from './review.js'
import { findReview, type ReviewService, requireReviewer } from './review-service.js'
import { ownDecision, secondOfOne } from './two-hands.js'

export interface AdjudicationDeps {
  reviews: ReviewStore
  queue: Pick<ReviewService, 'notices' | 'settled'>
  audit: Pick<AuditStore, 'append'>
  clock: Clock
  seal: Seal
  hands: Hands
  /** Read at each use. */
  settings: Pick<ReviewSettings, 'allowOwn' | 'twoPerson' | 'claimMs'>
  /** Called when the webhook's outbox has new messages. */
  noticed?: (() => void) | undefined
}

export interface AdjudicationInput {
  review_id: string
  decision: 'permit' | 'forbid'
  note?: string | undefined
}

const maxNote = 2000

export class Adjudication {
  readonly #deps: AdjudicationDeps

  constructor(deps: AdjudicationDeps) {
    this.#deps = deps
  }

  /** Claims a review, or extends one's claim. @throws Fault `review_claimed` where someone else has it */
  async claim(reviewer: Reviewer, reviewId: string): Promise<ReviewRecord> {
    const { reviews, clock, settings } = this.#deps
    const row = await this.#open(reviewer, reviewId)
    const at = clock.now()
    const until = Math.min(at + settings.claimMs, row.expiresAt)
    const claimed = await reviews.claim(reviewer.accountId, reviewId, { by: reviewer.keyId, at, until })
    const after = await findReview(reviews, reviewer, reviewId)
    if (!claimed) throw refusalOf(after, reviewer, at)
    this.#audit('review.claimed', reviewer, reviewId, { until: isoOrNull(until) })
    return reviewRecord(after, at)
  }

  /** Releases a claim; does nothing without one. */
  async release(reviewer: Reviewer, reviewId: string): Promise<ReviewRecord> {
    requireReviewer(reviewer)
    const { reviews, clock } = this.#deps
    await findReview(reviews, reviewer, reviewId)
    if (await reviews.release(reviewer.accountId, reviewId, reviewer.keyId)) {
      this.#audit('review.released', reviewer, reviewId, {})
    }
    return reviewRecord(await findReview(reviews, reviewer, reviewId), clock.now())
  }

  /** Decides a review. Of concurrent decisions one wins, and the others get an error. */
  async adjudicate(reviewer: Reviewer, input: AdjudicationInput): Promise<ReviewDetail> {
    const { review_id: reviewId, decision, note } = input
    if (note !== undefined && note.length > maxNote) {
      throw invalid('note', 'too_long', `note must have at most ${maxNote} characters.`)
    }
    const row = await this.#open(reviewer, reviewId)
    const isFirstOfTwo = this.#deps.settings.twoPerson && decision === 'permit' && row.approvedBy === null
    return isFirstOfTwo ? this.#approve(reviewer, row, note) : this.#decide(reviewer, row, decision, note)
  }

  /** The first of two permits: the review stays pending for a second person. */
  async #approve(reviewer: Reviewer, row: ReviewRow, note: string | undefined): Promise<ReviewDetail> {
    const { reviews, clock, queue, seal } = this.#deps
    const { reviewId } = row
    const at = clock.now()
    const approval = {
      by: reviewer.keyId,
      at,
      sealedNote: note === undefined ? null : seal.seal(Buffer.from(note), sealedFor(reviewId, 'approval_note'))
    }
    const approved = { ...row, approvedBy: reviewer.keyId, approvedAt: at }
    const done = await reviews.approve(row.account, reviewId, approval, queue.notices('review.approved', approved, at))
    const after = await findReview(reviews, reviewer, reviewId)
    if (!done) throw refusalOf(after, reviewer, at)
    this.#deps.noticed?.()
    this.#audit('review.approved', reviewer, reviewId, { policy: row.policy, roots: reviewer.roots })
    return reviewDetail(after, at, seal)
  }

  async #decide(
    reviewer: Reviewer,
    row: ReviewRow,
    decision: AdjudicationInput['decision'],
    note: string | undefined
  ): Promise<ReviewDetail> {
    const { reviews, clock, queue, seal, settings } = this.#deps
    const { reviewId } = row
    const at = clock.now()
    const state = decision === 'permit' ? 'permitted' : 'forbidden'
    const approvedBy = settings.twoPerson && decision === 'permit' ? row.approvedBy! : undefined
    if (approvedBy !== undefined) {
      const fault = secondOfOne(reviewer, await this.#deps.hands.of(row.account, approvedBy))
      if (fault !== undefined) throw fault
    }
    const verdict = {
      state,
      at,
      by: reviewer.keyId,
      sealedNote: note === undefined ? null : seal.seal(Buffer.from(note), sealedFor(reviewId, 'note')),
      approvedBy
    } as const
    const decided = { ...row, state, decidedBy: reviewer.keyId, decidedAt: at } as const
    const done = await reviews.decide(row.account, reviewId, verdict, queue.notices('review.decided', decided, at))
    const after = await findReview(reviews, reviewer, reviewId)
    if (!done) throw refusalOf(after, reviewer, at)
    queue.settled(reviewId)
    this.#deps.noticed?.()
    const { policy, approvedBy: first } = row
    this.#audit('review.decided', reviewer, reviewId, { decision, approved_by: first, policy, roots: reviewer.roots })
    return reviewDetail(after, at, seal)
  }

  /** Loads a review that this person may decide now. */
  async #open(reviewer: Reviewer, reviewId: string): Promise<ReviewRow> {
    requireReviewer(reviewer)
    const row = await findReview(this.#deps.reviews, reviewer, reviewId)
    if (!this.#deps.settings.allowOwn) {
      const { roots } = await this.#deps.hands.of(row.account, row.keyId)
      const fault = ownDecision(reviewer, { lineage: row.lineage, roots }, 'Your own hand caused this review.')
      if (fault !== undefined) throw fault
    }
    throwUnlessPending(row, this.#deps.clock.now())
    return row
  }

  #audit(kind: string, { accountId, keyId }: Reviewer, subject: string, data: Record<string, unknown>): void {
    const { audit, clock } = this.#deps
    audit.append({ at: clock.now(), kind, account: accountId, keyId, subject, data })
  }
}

function throwUnlessPending(row: ReviewRow, at: number): void {
  const status = reviewStatus(row, at)
  if (status === 'expired') throw new Fault('review_expired')
  if (status !== 'pending') throw new Fault('already_decided')
}

/** Why the store refused a change of a review that looked open before. */
function refusalOf(row: ReviewRow, reviewer: Reviewer, at: number): Fault {
  throwUnlessPending(row, at)
  if (row.claimedBy !== reviewer.keyId && row.claimedUntil !== null && at < row.claimedUntil) {
    return new Fault('review_claimed', {
      fields: { claimed_by: row.claimedBy, claimed_until: isoOrNull(row.claimedUntil) }
    })
  }
  if (row.approvedBy !== null) return new Fault('already_approved')
  return new Fault('storage_unavailable', { internal: 'a review was not changed although it is open' })
}
