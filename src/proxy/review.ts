/**
 * Reviews of an exchange, for diverted requests and withheld answers. The only place of the proxy that opens a review.
 */
import type { ChatContent, ChatPart } from '../base/chat.js'
import { invalid } from '../base/errors.js'
import type { ReviewBound } from '../base/settings.js'
import type { Denial } from '../dialects/denial.js'
import { canonicalJson } from '../json/canonical.js'
import { textOfTurn } from '../policy/evaluate/session.js'
import type { Cancellation, Evaluation } from '../policy/evaluation.js'
import { openReview, subjectOf } from '../review/open.js'
import type { Opened, ReviewedRequest, ReviewRequest, Standing, Turn } from '../review/review.js'
import type { Denials } from './denials.js'
import { type Exchange, type Inbound, isIdentifier } from './exchange.js'

/** The part of the review service that the proxy uses. */
export interface Reviews {
  /**
   * Stores a review, or finds the pending one of the same subject; or returns the bound of the queue that is reached.
   */
  open(review: ReviewRequest): Promise<Opened>
  /** The decision of a person over this very request; reading a permit uses it up. */
  consume(subject: ReviewedRequest, reviewId?: string): Promise<Standing>
  /** Waits for the decision, as long as the configuration says; `pending` where none came. */
  hold(subject: ReviewedRequest, reviewId: string, leave: Cancellation): Promise<Standing>
}

/** UTF-16 units of a request that are shown beside its answer: the limit of one text on the page. */
const maxAsked = 40_000

export class ReviewDesk {
  readonly #reviews: Reviews
  readonly #denials: Denials

  constructor(reviews: Reviews, denials: Denials) {
    this.#reviews = reviews
    this.#denials = denials
  }

  /**
   * The decision of people over this very request. Without one, opens a review and waits for its decision as long as
   * the configuration says.
   * @returns the bound of the queue that is reached, where it accepts no more
   */
  async ofRequest(exchange: Exchange, evaluation: Evaluation): Promise<Standing | { full: ReviewBound }> {
    const { route, inbound, context, reviewed } = exchange
    const { caller, cancel } = inbound
    const given = givenId(inbound)
    const surface = route.spoken.judged?.request ?? ('chat' as const)
    const what = { surface, route: route.id, canonical: Buffer.from(canonicalJson(reviewed)) }
    const subject = subjectOf(caller, what)
    const standing = await this.#reviews.consume(subject, given)
    exchange.reviewId = given
    if (standing !== 'pending' && standing !== 'none') return standing
    const opening = { ...what, evaluation, context, history: before(exchange) }
    const { reviewId, full } = await openReview(this.#reviews, caller, opening)
    exchange.reviewId = reviewId
    return full === undefined ? this.#reviews.hold(subject, reviewId, cancel) : { full }
  }

  /**
   * Opens a review of an answer, also for `depends`: a model cannot be asked for context.
   * @returns a `forbid` where the queue accepts no more
   */
  async ofAnswer(exchange: Exchange, content: ChatContent, evaluation: Evaluation, canonical: string): Promise<Denial> {
    const { route, inbound, context } = exchange
    const surface = route.spoken.judged?.answer ?? ('answer' as const)
    const what = { surface, route: route.id, canonical: Buffer.from(canonical) }
    const opening = { ...what, evaluation, context, history: asked(exchange) }
    const { reviewId, full } = await openReview(this.#reviews, inbound.caller, opening)
    exchange.reviewId = reviewId
    const decision = full === undefined ? ('divert' as const) : ('forbid' as const)
    return this.#denials.of(exchange, { decision, direction: 'answer', content, evaluation, full })
  }
}

/** The review that the caller names: a request that comes again after a decision. */
function givenId({ headers }: Inbound): string | undefined {
  const header = headers['x-safety-review-id']
  if (header === undefined) return undefined
  if (!isIdentifier(String(header))) {
    throw invalid('x-safety-review-id', 'invalid_format', 'x-safety-review-id is not the id of a review.')
  }
  return String(header)
}

/** Earlier turns of the session that the request does not repeat; undefined where it repeats all of them. */
function before({ recalled, chat }: Exchange): Turn[] | undefined {
  if (recalled === undefined) return undefined
  const own = new Set(turnsOf(chat.parts))
  const turns = recalled.filter(({ text }) => !own.has(text))
  return turns.length === 0 && own.size > 1 ? undefined : turns
}

/** The turns before an answer: its request, and the turns before that. */
function asked(exchange: Exchange): Turn[] | undefined {
  const turns = [...(before(exchange) ?? [])]
  for (const { role, text, isKey } of exchange.chat.parts) {
    if (isKey !== true && text !== '' && role !== 'parameter' && role !== 'definition') turns.push({ role, text })
  }
  let room = maxAsked
  const kept: Turn[] = []
  for (const { role, text } of turns.reverse()) {
    if (room === 0) break
    const end = text.slice(-room)
    kept.unshift({ role, text: end })
    room -= end.length
  }
  return kept.length === 0 ? undefined : kept
}

/** The user's turns of a request, each as a session remembers one. */
function turnsOf(parts: readonly ChatPart[]): string[] {
  const turns: ChatPart[][] = [[]]
  for (const part of parts) {
    if (part.role === 'user') turns.at(-1)!.push(part)
    else if (part.role !== 'parameter' && part.role !== 'definition' && part.isKey !== true) turns.push([])
  }
  return turns.map((turn) => textOfTurn(turn, 0)).filter((text) => text !== '')
}
