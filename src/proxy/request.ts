/**
 * The request's half of the funnel: bytes → one layer of coding off → strict JSON → every leaf with its role → verdict →
 * act. What leaves here is the serialisation of the very object that was judged. Only `permit` forwards.
 */

import { checkBudget, defaultBudget } from '../base/budget.js'
import type { ChatRequest, JsonObject, Media } from '../base/chat.js'
import { Fault, invalid } from '../base/errors.js'
import type { ReviewBound } from '../base/settings.js'
import type { StoppingDecision } from '../dialects/denial.js'
import { isObject, rewriteTree } from '../dialects/rewrite.js'
import { append, withinParts } from '../dialects/walk.js'
import { bodyMissing, payloadTooLarge } from '../edge/body.js'
import { largeTurns } from '../edge/large-turns.js'
import { canonicalJson } from '../json/canonical.js'
import { parseJson } from '../json/parse.js'
import type { Evaluation } from '../policy/evaluation.js'
import { readContext, readReviewId, readSession } from './context.js'
import { before, sessionOfChain } from './earlier.js'
import type { Exchange, Inbound, ProxyDeps, Reply } from './exchange.js'
import { passMedia } from './receipt.js'
import { denialReply } from './reply.js'
import { chooseRoute, type Route } from './routes.js'
import { denialOf, evaluate, raise, redactions } from './verdict.js'

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
