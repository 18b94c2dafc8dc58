/**
 * The request's half of the funnel: bytes → one layer of coding off → strict JSON → every leaf with its role → verdict →
 * act. What leaves here is the serialisation of the very object that was judged. Only `permit` forwards.
 */
import { bodyMissing, payloadTooLarge } from '../../body.js'
import { checkBudget, defaultBudget } from '../../budget.js'
import type { ChatPart, ChatRequest, JsonObject, Media } from '../../chat.js'
import type { StoppingDecision } from '../../dialects/denial.js'
import { isObject, pointerSegment, rewriteTree } from '../../dialects/rewrite.js'
import { append, Collector, withinParts } from '../../dialects/walk.js'
import { Fault, invalid } from '../../errors.js'
import { maxContextBytes, maxSessionId, sessionIdPattern } from '../../http/evaluate-input.js'
import { canonicalJson } from '../../json/canonical.js'
import { parseJson } from '../../json/parse.js'
import type { Evaluation } from '../../policy/evaluation.js'
import type { ReviewBound } from '../../settings.js'
import { largeTurns } from '../../turns.js'
import type { Exchange, Inbound, ProxyDeps, Reply } from '../exchange.js'
import { denialReply } from '../reply.js'
import { denialOf, evaluate, passMedia, raise, redactions } from '../verdict.js'
import { before, sessionOfChain } from './earlier.js'
import { chooseRoute, type Route } from './routes.js'

/** What the transport is to send, and where. */
export interface Forward {
  upstream: string
  bytes: Buffer
}

/**
 * Reads a body into an exchange.
 * @param decoded the body without its content coding
 * @throws Fault of the 4xx kind
 */
export function readExchange(deps: ProxyDeps, inbound: Inbound, decoded: Buffer): Exchange {
  const { entry } = inbound
  if (decoded.length === 0) throw bodyMissing()
  const { nodes, parts } = deps.budget ?? defaultBudget
  const body = parseJson(decoded, { nodes })
  if (!isObject(body)) throw invalid('', 'wrong_type', 'The body must be a JSON object.')
  const chat = withinParts(parts, () => entry.dialect.readRequest(body, inbound.target))
  const route = chooseRoute(entry, chat.model)
  if (decoded.length > route.bodyLimit) throw payloadTooLarge(route.bodyLimit)
  return openExchange(deps, inbound, route, body, chat, decoded.length)
}

/** @throws Fault `validation_error` for a header that cannot be read, `too_complex` beyond the budget of a request */
export function openExchange(
  deps: ProxyDeps,
  inbound: Inbound,
  route: Route,
  body: JsonObject,
  chat: ChatRequest,
  bytes = 0
): Exchange {
  const { context, texts } = readContext(inbound, route, chat.metadata)
  append(chat.parts, texts)
  checkBudget(chat, deps.budget ?? defaultBudget)
  return {
    deps,
    inbound,
    route,
    body,
    bytes,
    chat,
    context,
    session: readSession(inbound, chat.session) ?? sessionOfChain(inbound, chat),
    prompts: chat.parts.filter(({ role, isKey }) => role === 'system' && isKey !== true).map(({ text }) => text),
    policy: deps.evaluator.hold(route.constitution),
    requestVerdict: undefined,
    verdict: undefined,
    reviewId: undefined,
    streaming: false,
    redacted: 0,
    evaluationMs: 0,
    upstreamMs: 0
  }
}

/** Waits for the turn of a large body. @throws where the client has left meanwhile */
export async function largeTurn({ caller, cancel }: Inbound, bytes = 0): Promise<void> {
  const turn = largeTurns.take(caller.lineage, bytes)
  if (turn === undefined) return
  await turn
  if (cancel.reason !== undefined) throw cancel.reason
}

/**
 * Judges a request and acts on the verdict.
 * @returns what to send upstream, or the reply to a request that goes no further
 */
export async function judgeRequest(exchange: Exchange): Promise<Forward | Reply> {
  const { route, chat } = exchange
  const unscanned = chat.media.length === 0 ? undefined : checkMedia(route, chat.media)
  const evaluation = await evaluate(exchange, 'request', chat, exchange.session)
  // Without a verdict there is nothing to put before a person, and a person has to see what no one could read.
  if (evaluation === undefined && unscanned !== undefined) throw unscannable(unscanned)
  exchange.requestVerdict = evaluation
  // To write a large body, and to redact it first, takes as long as to read it.
  await largeTurn(exchange.inbound, exchange.bytes)
  if (evaluation === undefined || route.mode === 'observe') return forward(exchange, route.upstream)
  const decision = evaluation.decision
  if (unscanned !== undefined && decision !== 'forbid') {
    const raised = raise(exchange, evaluation, 'divert')
    exchange.requestVerdict = raised
    return divert(exchange, raised)
  }
  switch (decision) {
    case 'permit':
      return forward(exchange, route.upstream, evaluation)
    case 'forbid':
    case 'depends':
      return deny(exchange, decision, evaluation)
    case 'divert':
      return divert(exchange, evaluation)
    default:
      decision satisfies never
      throw new Error('unknown decision')
  }
}

/**
 * @returns the first part that a person has to see, where the route says so
 * @throws Fault `unscannable_content`
 */
function checkMedia(route: Route, media: readonly Media[]): Media | undefined {
  if (route.mode === 'observe' || route.unscannable === 'permit') return undefined
  if (route.unscannable === 'deny') throw unscannable(media[0]!)
  return media[0]
}

function unscannable({ pointer, kind }: Media): Fault {
  return new Fault('unscannable_content', {
    message: `The request holds content that cannot be evaluated (${kind}).`,
    fields: { details: { pointer } }
  })
}

function forward(exchange: Exchange, upstream: string, evaluation?: Evaluation): Forward {
  const { body, chat } = exchange
  passMedia(exchange, chat)
  if (evaluation !== undefined) {
    const replacements = redactions(exchange, chat, evaluation)
    if (replacements.length > 0) {
      rewriteTree(body, replacements)
      exchange.redacted += replacements.length
    }
  }
  return { upstream, bytes: serialise(body) }
}

function serialise(body: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(body))
}

function deny(exchange: Exchange, decision: StoppingDecision, evaluation: Evaluation, full?: ReviewBound): Reply {
  const denial = denialOf(exchange, decision, 'request', exchange.chat, evaluation)
  return denialReply(exchange, { ...denial, full })
}

/** To another backend, or before a person: unless one has decided over this very request already. */
async function divert(exchange: Exchange, evaluation: Evaluation): Promise<Forward | Reply> {
  const { deps, route, inbound, context, body, reviewed = body } = exchange
  if (route.divert !== 'queue') return forward(exchange, route.divert.upstream, evaluation)
  const { accountId: account, lineage, keyId } = inbound.caller
  const given = readReviewId(inbound)
  const subject = {
    surface: 'chat' as const,
    account,
    lineage,
    route: route.id,
    canonical: Buffer.from(canonicalJson(reviewed))
  }
  let standing = await deps.reviews.consume(subject, given)
  exchange.reviewId = given
  if (standing === 'pending' || standing === 'none') {
    const review = { ...subject, keyId, policy: evaluation.policy, evaluation, context, history: before(exchange) }
    const { reviewId, full } = await deps.reviews.open(review)
    exchange.reviewId = reviewId
    if (full !== undefined) return deny(exchange, 'forbid', evaluation, full)
    standing = await deps.reviews.hold(subject, reviewId, inbound.cancel)
  }
  switch (standing) {
    case 'permitted':
      return forward(exchange, route.upstream, evaluation)
    case 'forbidden':
      return deny(exchange, 'forbid', evaluation)
    case 'pending':
    case 'none':
      return deny(exchange, 'divert', evaluation)
    default:
      standing satisfies never
      throw new Error('unknown standing')
  }
}

/** What a caller says about its own request: context and session. Nothing here can weaken mode, thresholds or output. */

const characters = new RegExp(sessionIdPattern)
export const isIdentifier = (text: string) => text.length > 0 && text.length <= maxSessionId && characters.test(text)

const contextHeader = 'x-safety-context'
const noNames: ReadonlySet<string> = new Set()

export interface CallerContext {
  /** The keys that count on this route. */
  context: JsonObject | undefined
  /** What else stands in the header, to be judged as text. What stands in the body is judged with the body. */
  texts: ChatPart[]
}

const nothing: CallerContext = { context: undefined, texts: [] }

/** From the header or, without one, from the dialect's metadata. */
export function readContext(inbound: Inbound, route: Route, metadata: JsonObject | undefined): CallerContext {
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
export function readSession(inbound: Inbound, own: string | undefined): string | undefined {
  const header = inbound.headers['x-session-id']
  if (header !== undefined && !isIdentifier(String(header))) {
    throw invalid('x-session-id', 'invalid_format', 'x-session-id must be 1 to 128 of A-Z a-z 0-9 . _ : -')
  }
  const id = header ?? (own !== undefined && isIdentifier(own) ? own : undefined)
  return id === undefined ? undefined : `${inbound.caller.accountId}:${String(id)}`
}

export function readReviewId(inbound: Inbound): string | undefined {
  const header = inbound.headers['x-safety-review-id']
  if (header === undefined) return undefined
  if (!isIdentifier(String(header))) {
    throw invalid('x-safety-review-id', 'invalid_format', 'x-safety-review-id is not the id of a review.')
  }
  return String(header)
}
