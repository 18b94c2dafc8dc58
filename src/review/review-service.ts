/**
 * The queue of what people must decide (CONTRACT sections 5 and 6): what diverts is stored sealed, one person decides it
 * once, and a permit lets the same client's same request pass once. Nothing decided means refused.
 */
import { hash } from 'node:crypto'
import type { Clock } from '../clock.js'
import { Fault, invalid } from '../errors.js'
import type { Caller } from '../identity/caller.js'
import { holds, insufficientScope } from '../identity/scopes.js'
import type { ReviewRow, ReviewStore, ReviewSubject } from '../storage/contracts.js'
import { isId, newId } from '../storage/id.js'
import { reviewDetail, reviewRecord, reviewStatus, sealedFor, statusRecord } from './record.js'
import type { ReviewDetail, ReviewRecord, ReviewRequest, ReviewStatus, ReviewStatusRecord, Standing } from './review.js'
import type { Seal } from './seal.js'

export type Reviewer = Pick<Caller, 'keyId' | 'accountId' | 'lineage' | 'scopes'>

export interface ReviewServiceDeps {
  reviews: ReviewStore
  clock: Clock
  seal: Seal
  /** How long a review waits, and its permit holds, from its creation; ms. */
  expiryMs: number
  /** Whether a key may decide what it caused itself: for demonstrations. */
  allowOwn: boolean
}

const maxNote = 2000
const defaultPage = 100

export class ReviewService {
  readonly #deps: ReviewServiceDeps

  constructor(deps: ReviewServiceDeps) {
    this.#deps = deps
  }

  /** Stores a review, or finds the pending one of the same request of the same client. */
  async open(request: ReviewRequest): Promise<{ reviewId: string; created: boolean }> {
    const { reviews, clock, seal, expiryMs } = this.#deps
    const { evaluation, context } = request
    const now = clock.now()
    const reviewId = newId('rev', now)
    return reviews.open({
      reviewId,
      ...subjectOf(request),
      keyId: request.keyId,
      policy: request.policy,
      sealedRequest: seal.seal(request.canonical, sealedFor(reviewId, 'request')),
      sealedContext:
        context === undefined ? null : seal.seal(Buffer.from(JSON.stringify(context)), sealedFor(reviewId, 'context')),
      sealedNote: null,
      state: 'pending',
      riskScore: evaluation.risk_score,
      matchedRules: evaluation.matched_rules,
      detections: JSON.stringify(evaluation.detections),
      createdAt: now,
      expiresAt: now + expiryMs,
      decidedAt: null,
      decidedBy: null,
      usedAt: null
    })
  }

  /**
   * How people have decided over this very request, by this client, on this route. `permitted` uses the permit up: of
   * many requests at once one passes. Where several reviews stand, a refusal counts before a permit.
   * @param reviewId narrows to one review; one of another request is none at all
   */
  async consume(
    request: Pick<ReviewRequest, 'surface' | 'account' | 'lineage' | 'route' | 'canonical'>,
    reviewId?: string
  ): Promise<Standing> {
    const { reviews, clock } = this.#deps
    const now = clock.now()
    const current = await reviews.current(subjectOf(request), now)
    const rows = reviewId === undefined ? current : current.filter((row) => row.reviewId === reviewId)
    const inState = (state: ReviewRow['state']) => rows.filter((row) => row.state === state)
    if (inState('forbidden').length > 0) return 'forbidden'
    for (const row of inState('permitted')) {
      if (await reviews.use(row.account, row.reviewId, now)) return 'permitted'
    }
    return inState('pending').length > 0 ? 'pending' : 'none'
  }

  /** Newest first, without texts. `cursor` is what `next_cursor` was. */
  async list(
    reviewer: Reviewer,
    page: { status?: ReviewStatus | undefined; limit?: number | undefined; cursor?: string | undefined } = {}
  ): Promise<{ reviews: ReviewRecord[]; next_cursor?: string }> {
    requireReviewer(reviewer)
    const { status: state, limit = defaultPage, cursor: before } = page
    if (before !== undefined && !isId('rev', before)) {
      throw invalid('query.cursor', 'invalid_format', 'cursor must be a next_cursor of an earlier answer.')
    }
    const now = this.#deps.clock.now()
    // One more than asked for tells whether there is a next page.
    const rows = await this.#deps.reviews.list(reviewer.accountId, { state, now, before, limit: limit + 1 })
    const shown = rows.slice(0, limit)
    const reviews = shown.map((row) => reviewRecord(row, now))
    return rows.length > shown.length ? { reviews, next_cursor: shown.at(-1)!.reviewId } : { reviews }
  }

  /** With its texts for a reviewer of the account; its status alone for the client that caused it; absent for others. */
  async get(reader: Reviewer, reviewId: string): Promise<ReviewDetail | ReviewStatusRecord> {
    const isReviewer = holds(reader.scopes, 'pdp:adjudicate')
    if (!isReviewer && !holds(reader.scopes, 'safety:evaluate')) {
      throw insufficientScope('pdp:adjudicate', reader.scopes)
    }
    const row = await this.#find(reader, reviewId)
    const now = this.#deps.clock.now()
    if (isReviewer) return reviewDetail(row, now, this.#deps.seal)
    if (row.lineage !== reader.lineage) throw notFound()
    return statusRecord(row, now)
  }

  /** Decides once: of many decisions at once one stands, and the others are told so. */
  async adjudicate(
    reviewer: Reviewer,
    verdict: { review_id: string; decision: 'permit' | 'forbid'; note?: string | undefined }
  ): Promise<ReviewDetail> {
    requireReviewer(reviewer)
    const { reviews, clock, seal, allowOwn } = this.#deps
    const { review_id: reviewId, decision, note } = verdict
    if (note !== undefined && note.length > maxNote) {
      throw invalid('note', 'too_long', `note must have at most ${maxNote} characters.`)
    }
    const row = await this.#find(reviewer, reviewId)
    // The lineage, so that rotating a key does not make its owner a stranger to what it caused.
    if (!allowOwn && row.lineage === reviewer.lineage) throw new Fault('own_review')
    const at = clock.now()
    throwUnlessPending(reviewStatus(row, at))
    const decided = await reviews.decide(reviewer.accountId, reviewId, {
      state: decision === 'permit' ? 'permitted' : 'forbidden',
      at,
      by: reviewer.keyId,
      sealedNote: note === undefined ? null : seal.seal(Buffer.from(note), sealedFor(reviewId, 'note'))
    })
    const after = await this.#find(reviewer, reviewId)
    if (!decided) {
      throwUnlessPending(reviewStatus(after, at))
      throw new Fault('storage_unavailable', { internal: 'a decision was refused although the review is pending' })
    }
    return reviewDetail(after, at, seal)
  }

  /** For the gauges, over all accounts: how many wait, and how many seconds the oldest has (0 where none waits). */
  async backlog(): Promise<{ depth: number; oldestAgeSeconds: number }> {
    const now = this.#deps.clock.now()
    const { depth, oldestCreatedAt } = await this.#deps.reviews.pending(now)
    return { depth, oldestAgeSeconds: oldestCreatedAt === undefined ? 0 : Math.max(0, now - oldestCreatedAt) / 1000 }
  }

  async #find(reader: Reviewer, reviewId: string): Promise<ReviewRow> {
    const row = isId('rev', reviewId) ? await this.#deps.reviews.get(reader.accountId, reviewId) : undefined
    if (!row) throw notFound()
    return row
  }
}

function subjectOf(
  request: Pick<ReviewRequest, 'surface' | 'account' | 'lineage' | 'route' | 'canonical'>
): ReviewSubject {
  const { surface, account, lineage, route, canonical } = request
  return { surface, account, lineage, route, digest: hash('sha256', canonical, 'hex') }
}

function requireReviewer(reviewer: Reviewer): void {
  if (!holds(reviewer.scopes, 'pdp:adjudicate')) throw insufficientScope('pdp:adjudicate', reviewer.scopes)
}

function notFound(): Fault {
  return new Fault('not_found', { message: 'There is no such review.' })
}

function throwUnlessPending(status: ReviewStatus): void {
  if (status === 'expired') throw new Fault('review_expired')
  if (status !== 'pending') throw new Fault('already_decided')
}
