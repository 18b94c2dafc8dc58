/**
 * The request's stage: bytes → content decoding → strict JSON, or a strict form → every leaf with its role → verdict →
 * act. The upstream gets exactly the judged object: the original bytes, where every parser reads it from them and
 * nothing was changed; its serialisation otherwise. Only `permit` forwards.
 */

import type { Budget } from '../../base/budget.js'
import type { ChatPart, ChatRequest, JsonObject, Media } from '../../base/chat.js'
import type { Clock } from '../../base/clock.js'
import { invalid } from '../../base/errors.js'
import type { ReviewBound } from '../../base/settings.js'
import type { StoppingDecision } from '../../dialects/denial.js'
import { boundaryOf, readForm, writeForm } from '../../dialects/form.js'
import { isObject, pointerSegment } from '../../dialects/rewrite.js'
import { append, Collector, readingCaller } from '../../dialects/walk.js'
import { bodyMissing, decodeBody, payloadTooLarge } from '../../edge/body.js'
import { maxContextBytes } from '../../edge/evaluate-input.js'
import { largeTurns } from '../../edge/large-turns.js'
import { parseJson, readJson } from '../../json/parse.js'
import type { Evaluation, Evaluator } from '../../policy/evaluation.js'
import { checkBudget } from '../../policy/match/budget.js'
import type { Clarifier } from '../clarify.js'
import type { Denials } from '../denials.js'
import { answerSession, Exchange, type Forward, type Inbound, isIdentifier, type Reply } from '../exchange.js'
import { checkRequestHeaders } from '../headers.js'
import { denialReply } from '../reply.js'
import type { ReviewDesk } from '../review.js'
import { raise, redactBody, type Verdicts } from '../verdict.js'
import { type MediaStage, unscannable } from './media.js'
import { chooseRoute, type Route } from './routes.js'

export interface RequestDeps {
  evaluator: Pick<Evaluator, 'hold'>
  verdicts: Verdicts
  media: MediaStage
  denials: Denials
  clarifier: Clarifier
  reviews: ReviewDesk
  clock: Pick<Clock, 'now'>
  /** Limits of one request. */
  budget: Budget
  /** The name of the constitution that judges a route. */
  constitutionOf(route: Route): string
}

/** Facts for opening an exchange, beside the request itself. */
export interface Opening {
  body: JsonObject
  /** Bytes of the decoded body. Default: it came as an event. */
  bytes?: number
  /** The decoded bytes, where they may be sent unchanged. */
  sent?: Buffer | undefined
  /** The part of the body that a reviewer sees. Default: all of it. */
  reviewed?: JsonObject
}

export class Requests {
  readonly #deps: RequestDeps

  constructor(deps: RequestDeps) {
    this.#deps = deps
  }

  /**
   * Reads a body into an exchange.
   * @param bytes as they came, still in their content coding
   * @returns a promise only where it must wait: for decoding, the turn of a large body, or an earlier question
   * @throws Fault of the 4xx kind; the reason of the cancel where the client has left meanwhile
   */
  read(inbound: Inbound, bytes: Buffer): Exchange | Promise<Exchange> {
    const { entry, headers } = inbound
    const decoded = decodeBody(bytes, headers['content-encoding'], entry.bodyLimit)
    if (decoded instanceof Promise) return decoded.then((decoded) => this.#readInTurn(inbound, decoded))
    return this.#readInTurn(inbound, decoded)
  }

  #readInTurn(inbound: Inbound, decoded: Buffer): Exchange | Promise<Exchange> {
    const turn = largeTurn(inbound, decoded.length)
    return turn === undefined ? this.#readBody(inbound, decoded) : turn.then(() => this.#readBody(inbound, decoded))
  }

  #readBody(inbound: Inbound, decoded: Buffer): Exchange | Promise<Exchange> {
    const { entry, headers } = inbound
    const { nodes, parts } = this.#deps.budget
    const { form, chain } = entry.dialect
    if (decoded.length === 0) throw bodyMissing(form === undefined ? 'json' : 'form')
    const { value: body, isPlain } =
      form === undefined
        ? readJson(decoded, { nodes, keys: parts })
        : { value: readForm(decoded, boundaryOf(headers['content-type'] ?? '') ?? '', form), isPlain: false }
    if (!isObject(body)) throw invalid('', 'wrong_type', 'The body must be a JSON object.')
    const sent = isPlain ? decoded : undefined
    if (chain?.after(body) === undefined) return this.#readChat(inbound, { body, bytes: decoded.length, sent })
    return this.#deps.clarifier.resume(inbound, body).then((grown) =>
      // The earlier turns are part of the body now.
      this.#readChat(inbound, { body, bytes: decoded.length + grown, sent: grown === 0 ? sent : undefined })
    )
  }

  #readChat(inbound: Inbound, opening: Opening & { bytes: number }): Exchange {
    const { entry, target } = inbound
    const { body, bytes } = opening
    const chat = readingCaller(this.#deps.budget.parts, () => entry.dialect.readRequest(body, target))
    const route = chooseRoute(entry, chat.model)
    if (bytes > route.bodyLimit) throw payloadTooLarge(route.bodyLimit)
    return this.open(inbound, route, chat, opening)
  }

  /** @throws Fault `validation_error` for a header that cannot be read, `too_complex` beyond the budget of a request */
  open(
    inbound: Inbound,
    route: Route,
    chat: ChatRequest,
    { body, bytes = 0, sent, reviewed = body }: Opening
  ): Exchange {
    const { evaluator, clock, budget, constitutionOf } = this.#deps
    checkRequestHeaders(route.spoken, inbound.headers)
    const { context, texts } = readContext(inbound, route, chat.metadata)
    append(chat.parts, texts)
    checkBudget(chat, budget)
    const session = readSession(inbound, chat.session) ?? sessionOfChain(inbound, chat)
    const policy = evaluator.hold(constitutionOf(route))
    return new Exchange({
      inbound,
      route,
      body,
      bytes,
      sent,
      reviewed,
      chat,
      context,
      session,
      policy,
      readAt: clock.now()
    })
  }

  /**
   * Judges a request and acts on the verdict.
   * @returns what to send upstream, or the reply to a request that goes no further
   */
  judge(exchange: Exchange): Promise<Forward | Reply> {
    const { route, chat } = exchange
    const { media, clarifier, verdicts } = this.#deps
    if (chat.media.length > 0) return this.#judgeMedia(exchange)
    if (chat.brings !== undefined) media.checkBrought(route, chat.brings)
    const settling = clarifier.settle(exchange)
    if (settling !== undefined) return this.#judgeSettled(exchange, settling, undefined)
    return verdicts.ofRequest(exchange).then((evaluation) => this.#act(exchange, evaluation, undefined))
  }

  async #judgeMedia(exchange: Exchange): Promise<Forward | Reply> {
    const { media, clarifier } = this.#deps
    const { brings } = exchange.chat
    const unscanned = await media.check(exchange)
    if (brings !== undefined) media.checkBrought(exchange.route, brings)
    return this.#judgeSettled(exchange, clarifier.settle(exchange), unscanned)
  }

  async #judgeSettled(
    exchange: Exchange,
    settling: ReturnType<Clarifier['settle']>,
    unscanned: Media | undefined
  ): Promise<Forward | Reply> {
    if (settling !== undefined) exchange.settled = await settling
    return this.#act(exchange, await this.#deps.verdicts.ofRequest(exchange), unscanned)
  }

  /** @param unscanned a part that a person must review */
  #act(
    exchange: Exchange,
    evaluation: Evaluation | undefined,
    unscanned: Media | undefined
  ): Forward | Reply | Promise<Forward | Reply> {
    // The unreadable part needs a reviewer, and without a verdict no review can be opened.
    if (evaluation === undefined && unscanned !== undefined) throw unscannable(unscanned)
    // Serialising and redacting a large body takes as long as parsing it.
    const isWritten = exchange.sent === undefined || exchange.route.redact.length > 0
    const turn = isWritten ? largeTurn(exchange.inbound, exchange.bytes) : undefined
    return turn === undefined
      ? this.#actInTurn(exchange, evaluation, unscanned)
      : turn.then(() => this.#actInTurn(exchange, evaluation, unscanned))
  }

  #actInTurn(
    exchange: Exchange,
    evaluation: Evaluation | undefined,
    unscanned: Media | undefined
  ): Forward | Reply | Promise<Forward | Reply> {
    const { route } = exchange
    if (evaluation === undefined || route.mode === 'observe') return this.#forward(exchange, route.upstream)
    const { decision } = evaluation
    if (unscanned !== undefined && decision !== 'forbid') {
      return this.#divert(exchange, raise(exchange, evaluation, 'divert'))
    }
    switch (decision) {
      case 'permit':
        return this.#forward(exchange, route.upstream, evaluation)
      case 'forbid':
        return this.#deny(exchange, decision, evaluation)
      case 'depends':
        return this.#ask(exchange, evaluation)
      case 'divert':
        return this.#divert(exchange, evaluation)
      default:
        decision satisfies never
        throw new Error('unknown decision')
    }
  }

  #forward(exchange: Exchange, upstream: string, evaluation?: Evaluation): Forward {
    const { body, sent, chat, route } = exchange
    this.#deps.verdicts.passMedia(exchange, chat)
    const isChanged = evaluation !== undefined && redactBody(exchange, body, chat, evaluation)
    if (route.spoken.form !== undefined) return { upstream, ...writeForm(body) }
    const bytes = sent === undefined || isChanged ? Buffer.from(JSON.stringify(body)) : sent
    return { upstream, bytes, type: 'application/json' }
  }

  /**
   * Sends the request to another backend or opens a review, unless a person has decided over this very request already.
   */
  async #divert(exchange: Exchange, evaluation: Evaluation): Promise<Forward | Reply> {
    const { route } = exchange
    if (route.divert !== 'queue') return this.#forward(exchange, route.divert.upstream, evaluation)
    const standing = await this.#deps.reviews.ofRequest(exchange, evaluation)
    if (typeof standing === 'object') return this.#deny(exchange, 'forbid', evaluation, standing.full)
    switch (standing) {
      case 'permitted':
        return this.#forward(exchange, route.upstream, evaluation)
      case 'forbidden':
        return this.#deny(exchange, 'forbid', evaluation)
      case 'pending':
      case 'none':
        return this.#deny(exchange, 'divert', evaluation)
      default:
        standing satisfies never
        throw new Error('unknown standing')
    }
  }

  async #deny(
    exchange: Exchange,
    decision: StoppingDecision,
    evaluation: Evaluation,
    full?: ReviewBound
  ): Promise<Reply> {
    const stopped = { decision, direction: 'request', content: exchange.chat, evaluation, full } as const
    return denialReply(exchange, await this.#deps.denials.of(exchange, stopped))
  }

  /**
   * Asks for missing context: the caller gets the names of its keys, a person gets a question where they can answer it.
   */
  async #ask(exchange: Exchange, evaluation: Evaluation): Promise<Reply> {
    const { clarifier, denials } = this.#deps
    const offer = await clarifier.offer(exchange, evaluation)
    if (offer === undefined) return this.#deny(exchange, 'depends', evaluation)
    const stopped = { decision: 'depends', direction: 'request', content: exchange.chat, evaluation } as const
    const asking = await denials.of(exchange, { ...stopped, topics: offer.topics })
    const isKept = await clarifier.remember(exchange, offer, asking.wording.end_user.text)
    return isKept ? denialReply(exchange, asking) : this.#deny(exchange, 'depends', evaluation)
  }
}

/** The turn of a large body; undefined where it need not wait. Rejects where the client has left meanwhile. */
function largeTurn({ caller, cancel }: Inbound, bytes: number): Promise<void> | undefined {
  return largeTurns.take(caller.lineage, bytes)?.then(() => {
    if (cancel.reason !== undefined) throw cancel.reason
  })
}

const contextHeader = 'x-safety-context'
const noNames: ReadonlySet<string> = new Set()

/** A caller's claims about its own request; none can weaken mode, thresholds or output. */
interface CallerContext {
  /** The keys that count on this route. */
  context: JsonObject | undefined
  /** Other texts of the header, which are judged. Those of the body are judged with the body. */
  texts: ChatPart[]
}

const nothing: CallerContext = { context: undefined, texts: [] }

/** From the header or, without one, from the dialect's metadata. */
function readContext(inbound: Inbound, route: Route, metadata: JsonObject | undefined): CallerContext {
  const header = inbound.headers[contextHeader]
  const given = header === undefined ? metadata : parseContext(String(header))
  if (given === undefined) return nothing
  let context: JsonObject | undefined
  const others = new Collector(noNames)
  for (const key of Object.keys(given)) {
    if (route.contextKeys.has(key)) {
      context ??= {}
      context[key] = given[key]!
    } else if (header !== undefined) {
      const pointer = `${contextHeader}/${pointerSegment(key)}`
      others.text('parameter', key, pointer)
      others.walk('parameter', given[key], pointer)
    }
  }
  return { context, texts: others.parts }
}

function parseContext(header: string): JsonObject {
  const field = contextHeader
  // Node reads header bytes as Latin-1; the bytes themselves are the JSON text.
  const bytes = Buffer.from(header, 'latin1')
  if (bytes.length > maxContextBytes)
    throw invalid(field, 'too_long', `${field} must not exceed ${maxContextBytes} bytes.`)
  const value = parseJson(bytes, { field })
  if (!isObject(value)) throw invalid(field, 'wrong_type', `${field} must be a JSON object.`)
  return value
}

/** The session of one account, from the header or the dialect's own field. */
function readSession(inbound: Inbound, own: string | undefined): string | undefined {
  const header = inbound.headers['x-session-id']
  if (header !== undefined && !isIdentifier(String(header))) {
    throw invalid('x-session-id', 'invalid_format', 'x-session-id must be 1 to 128 of A-Z a-z 0-9 . _ : -')
  }
  const id = header ?? (own !== undefined && isIdentifier(own) ? own : undefined)
  return id === undefined ? undefined : `${inbound.caller.accountId}:${String(id)}`
}

/**
 * The session of a caller that names none: that of the continued answer (`previous_response_id`), since the request
 * does not repeat the earlier turns; or a new one that later requests may continue. Other requests that continued from
 * the same answer count too.
 */
function sessionOfChain({ caller, requestId }: Inbound, { after, isKept }: ChatRequest): string | undefined {
  if (after !== undefined && isIdentifier(after)) return answerSession(caller.accountId, after)
  return isKept ? answerSession(caller.accountId, `to.${requestId}`) : undefined
}
