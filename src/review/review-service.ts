/**
 * The queue of reviews (docs/api.md, sections 5 and 6). Diverted content is stored sealed, and a permit lets the same
 * request of the same client pass once. Without a decision it stays refused. `adjudication.ts` takes the decisions.
 */
import { hash } from 'node:crypto'
import type { Clock } from '../base/clock.js'
import { Fault, invalid } from '../base/errors.js'
import { isId, newId } from '../base/ids.js'
import type { ReviewBound, ReviewSettings } from '../base/settings.js'
import { durationForms, parseDuration } from '../base/units.js'
import { holds, insufficientScope } from '../identity/scopes.js'
import type { Cancellation, Category, Detection } from '../policy/evaluation.js'
import { type Seal, sealedFor } from '../sealing/seal.js'
import type { DeliveryRow, Opened, ReviewRow, ReviewStore, ReviewSubject } from '../storage/contracts/reviews.js'
import { createWaits, type Waits } from './hold.js'
import { reviewDetail, reviewRecord, type SealedField, statusRecord } from './record.js'
import type {
  ReviewDetail,
  ReviewedRequest,
  Reviewer,
  ReviewRecord,
  ReviewRequest,
  ReviewStatus,
  ReviewStatusRecord,
  Standing
} from './review.js'
import { delivery, type ReviewEvent, webhookBody } from './webhook.js'

export type { Reviewer } from './review.js'

export interface ReviewServiceDeps {
  reviews: ReviewStore
  clock: Clock
  seal: Seal
  /** Read at each use, so that a reload is in force at once. */
  settings: ReviewSettings
  /** Called when the webhook's outbox has new messages. */
  noticed?: (() => void) | undefined
  /** Called where the queue accepts no more. */
  refused?: ((bound: ReviewBound) => void) | undefined
}

export interface ReviewQuery {
  status?: ReviewStatus | undefined
  category?: Category | undefined
  key_id?: string | undefined
  /** Durations such as `10m`: how long ago a review was opened. */
  older_than?: string | undefined
  newer_than?: string | undefined
  order?: 'newest' | 'oldest' | undefined
  limit?: number | undefined
  /** The last `next_cursor`. */
  cursor?: string | undefined
}

const defaultPage = 100
/** Reviews whose texts are deleted in one transaction. */
const purgeBatch = 500
/** Detections of one rule that a review keeps: a person looks at a few, and a page of reviews holds those of each. */
const mostOfRule = 100

export class ReviewService {
  readonly #deps: ReviewServiceDeps
  readonly #waits: Waits

  constructor(deps: ReviewServiceDeps) {
    this.#deps = deps
    this.#waits = createWaits(deps.clock)
  }

  /**
   * Stores a review, or finds the pending one of the same request of the same client; or returns the bound of the queue
   * that is reached.
   */
  async open(request: ReviewRequest): Promise<Opened> {
    const { reviews, clock, seal, settings } = this.#deps
    const { evaluation, context, history } = request
    const now = clock.now()
    const reviewId = newId('rev', now)
    const sealed = (field: SealedField, value: object | undefined) =>
      value === undefined ? null : seal.seal(Buffer.from(JSON.stringify(value)), sealedFor(reviewId, field))
    const row: ReviewRow = {
      reviewId,
      ...subjectOf(request),
      keyId: request.keyId,
      policy: request.policy,
      sealedRequest: seal.seal(request.canonical, sealedFor(reviewId, 'request')),
      sealedContext: sealed('context', context),
      sealedHistory: sealed('history', history),
      sealedNote: null,
      sealedApprovalNote: null,
      state: 'pending',
      riskScore: evaluation.risk_score,
      matchedRules: evaluation.matched_rules,
      categories: [...new Set(evaluation.detections.map(({ category }) => category))],
      detections: JSON.stringify(firstOfRules(evaluation.detections)),
      createdAt: now,
      expiresAt: now + settings.expiryMs,
      claimedBy: null,
      claimedUntil: null,
      approvedBy: null,
      approvedAt: null,
      decidedAt: null,
      decidedBy: null,
      usedAt: null,
      purgedAt: null
    }
    const opened = await reviews.open(row, this.notices('review.created', row, now), settings.maxOpen)
    if (opened.created) this.#deps.noticed?.()
    if (opened.full !== undefined) this.#deps.refused?.(opened.full)
    return opened
  }

  /** Messages for the webhook, stored in the transaction that changes the review. */
  notices(event: ReviewEvent, row: ReviewRow, now: number): DeliveryRow[] {
    const { webhook } = this.#deps.settings
    if (webhook === undefined) return []
    const { account, reviewId: subject } = row
    return [delivery(event, { account, subject, body: webhookBody(event, row, now, webhook.format) }, now)]
  }

  /**
   * The decision over this very request of this client on this route. `permitted` uses the permit up: of concurrent
   * requests one passes. Where several reviews stand, a refusal counts before a permit.
   * @param reviewId limits it to one review; a review of another request does not count
   */
  async consume(request: ReviewedRequest, reviewId?: string): Promise<Standing> {
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

  /**
   * Waits for the decision over an open review, for as long as the configuration says; not at all by default.
   * @returns `pending` where none came
   * @throws the reason for which the client left
   */
  async hold(request: ReviewedRequest, reviewId: string, leave: Cancellation): Promise<Standing> {
    const { reviews, settings } = this.#deps
    if (settings.holdMs === 0) return 'pending'
    const isDecided = async () => (await reviews.get(request.account, reviewId))?.state !== 'pending'
    const decided = await this.#waits.wait(reviewId, settings.holdMs, leave, isDecided)
    return decided ? this.consume(request, reviewId) : 'pending'
  }

  /** Ends the waits of this process for a review. */
  settled(reviewId: string): void {
    this.#waits.settle(reviewId)
  }

  /** Without texts; newest first unless asked otherwise. */
  async list(reviewer: Reviewer, query: ReviewQuery = {}): Promise<{ reviews: ReviewRecord[]; next_cursor?: string }> {
    requireReviewer(reviewer)
    const { limit = defaultPage, cursor, order = 'newest' } = query
    if (cursor !== undefined && !isId('rev', cursor)) {
      throw invalid('query.cursor', 'invalid_format', 'cursor must be a next_cursor of an earlier answer.')
    }
    const now = this.#deps.clock.now()
    const ago = (name: 'older_than' | 'newer_than') => {
      const text = query[name]
      const ms = text === undefined ? 0 : parseDuration(text)
      if (ms === undefined)
        throw invalid(`query.${name}`, 'invalid_format', `${name} must be a duration: ${durationForms}.`)
      return text === undefined ? undefined : now - ms
    }
    // One more than asked for tells whether there is a next page.
    const rows = await this.#deps.reviews.list(reviewer.accountId, {
      state: query.status,
      category: query.category,
      keyId: query.key_id,
      createdBefore: ago('older_than'),
      createdAfter: ago('newer_than'),
      now,
      order,
      after: cursor,
      limit: limit + 1
    })
    const shown = rows.slice(0, limit)
    const reviews = shown.map((row) => reviewRecord(row, now))
    return rows.length > shown.length ? { reviews, next_cursor: shown.at(-1)!.reviewId } : { reviews }
  }

  /**
   * The review with its texts for a reviewer of the account; only its status for the client that caused it; absent for
   * others.
   */
  async get(reader: Reviewer, reviewId: string): Promise<ReviewDetail | ReviewStatusRecord> {
    const isReviewer = holds(reader.scopes, 'pdp:adjudicate')
    if (!isReviewer && !holds(reader.scopes, 'safety:evaluate')) {
      throw insufficientScope('pdp:adjudicate', reader.scopes)
    }
    const row = await findReview(this.#deps.reviews, reader, reviewId)
    const now = this.#deps.clock.now()
    if (isReviewer) return reviewDetail(row, now, this.#deps.seal)
    if (row.lineage !== reader.lineage) throw notFound()
    return statusRecord(row, now)
  }

  /**
   * For the gauges, over all accounts: the number of waiting reviews, and the age of the oldest in seconds (0 without
   * any).
   */
  async backlog(): Promise<{ depth: number; oldestAgeSeconds: number }> {
    const now = this.#deps.clock.now()
    const { depth, oldestCreatedAt } = await this.#deps.reviews.pending(now)
    return { depth, oldestAgeSeconds: oldestCreatedAt === undefined ? 0 : Math.max(0, now - oldestCreatedAt) / 1000 }
  }

  /** Deletes texts past their retention. @returns the number of reviews */
  async purge(): Promise<number> {
    const { reviews, clock, settings } = this.#deps
    const now = clock.now()
    let purged = 0
    for (;;) {
      const count = await reviews.purgeTexts({ endedBefore: now - settings.retentionMs, at: now, limit: purgeBatch })
      purged += count
      if (count < purgeBatch) return purged
    }
  }
}

export async function findReview(
  reviews: Pick<ReviewStore, 'get'>,
  reader: Reviewer,
  reviewId: string
): Promise<ReviewRow> {
  const row = isId('rev', reviewId) ? await reviews.get(reader.accountId, reviewId) : undefined
  if (!row) throw notFound()
  return row
}

export function requireReviewer(reviewer: Reviewer): void {
  if (!holds(reviewer.scopes, 'pdp:adjudicate')) throw insufficientScope('pdp:adjudicate', reviewer.scopes)
}

function subjectOf({ surface, account, lineage, route, canonical }: ReviewedRequest): ReviewSubject {
  return { surface, account, lineage, route, digest: hash('sha256', canonical, 'hex') }
}

function firstOfRules(detections: readonly Detection[]): Detection[] {
  const counts = new Map<string, number>()
  return detections.filter(({ rule }) => {
    const count = (counts.get(rule) ?? 0) + 1
    counts.set(rule, count)
    return count <= mostOfRule
  })
}

function notFound(): Fault {
  return new Fault('not_found', { message: 'There is no such review.' })
}
