/** Replies that the gateway writes itself, and the headers that every proxied reply carries. */

import type { Fault } from '../base/errors.js'
import { type Denial, refusalOf } from '../dialects/denial.js'
import type { Dialect, TurnFacts } from '../dialects/dialect.js'
import type { Exchange, Reply } from './exchange.js'
import { headerValue } from './headers.js'
import { mediaTypes } from './wire.js'

export const jsonType = 'application/json; charset=utf-8'

/** A fault in the dialect's own shape: what real SDKs read. */
export function faultReply(dialect: Dialect, fault: Fault, requestId: string): Reply {
  const headers: Record<string, string> = { 'content-type': jsonType, ...ownId(dialect, requestId), ...fault.headers }
  if (fault.code === 'unscannable_content') {
    const { pointer } = fault.fields.details as { pointer: string }
    Object.assign(headers, refusalHeaders(fault.code, pointer))
  }
  return { status: fault.status, headers, body: JSON.stringify(dialect.error(fault, requestId)) }
}

/** The verdict of a request that was stopped: the dialect's error, or a turn of the conversation. */
export function denialReply(exchange: Exchange, denial: Denial): Reply {
  const { route, inbound, chat } = exchange
  const { status, code } = refusalOf(denial)
  const refusal = { ...refusalHeaders(code, denial.pointer), ...ownId(route.spoken, inbound.requestId) }
  if (route.respond === 'error' || !route.spoken.hasTurns) {
    const body = JSON.stringify(route.spoken.denied(denial, inbound.requestId))
    return { status, headers: { ...refusal, 'content-type': jsonType }, body }
  }
  const facts = turnFacts(exchange, denial)
  return chat.stream
    ? { status: 200, headers: { ...refusal, ...streamHeaders(exchange) }, body: route.spoken.turnStream(facts) }
    : { status: 200, headers: { ...refusal, 'content-type': jsonType }, body: JSON.stringify(route.spoken.turn(facts)) }
}

function ownId({ requestIdHeader }: Dialect, requestId: string): Record<string, string> {
  return requestIdHeader === undefined ? {} : { [requestIdHeader]: requestId }
}

export function streamHeaders({ route, inbound }: Exchange): Record<string, string> {
  return { 'content-type': mediaTypes[route.spoken.framing(inbound.target)].sent, 'cache-control': 'no-cache' }
}

/** On every refusal, so that a client can drop the message named, and does not send the same again. */
export function refusalHeaders(code: string, pointer: string | undefined): Record<string, string> {
  return {
    'x-safety-code': code,
    ...(pointer !== undefined && { 'x-safety-pointer': headerValue(pointer) }),
    'x-should-retry': 'false'
  }
}

export function turnFacts({ deps, inbound, body }: Exchange, denial: Denial): TurnFacts {
  const { requestId, target } = inbound
  return { denial, request: body, target, requestId, created: Math.floor(deps.clock.now() / 1000) }
}

/** Names, numbers and ids of the verdict; never a text. */
export function addVerdictHeaders(
  headers: Record<string, string>,
  exchange: Exchange,
  verdict = exchange.verdict
): void {
  const { reviewId, redacted, unjudged, evaluationMs, upstreamMs } = exchange
  const timing = `evaluation;dur=${evaluationMs.toFixed(3)}`
  headers['server-timing'] = upstreamMs === 0 ? timing : `${timing}, upstream;dur=${upstreamMs.toFixed(3)}`
  if (verdict !== undefined) {
    headers['x-safety-decision'] = verdict.decision
    headers['x-safety-score'] = String(verdict.risk_score)
    headers['x-safety-policy'] = verdict.policy
    headers['x-safety-evaluation-id'] = verdict.evaluation_id
    headers['x-safety-rules'] = headerValue(verdict.matched_rules.join(', '))
  }
  if (reviewId !== undefined) headers['x-safety-review-id'] = reviewId
  if (redacted > 0) headers['x-safety-redacted'] = String(redacted)
  if (unjudged !== undefined) headers['x-safety-not-evaluated'] = [...unjudged].join(', ')
}
