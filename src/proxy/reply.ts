/** Replies that the gateway writes itself, and the headers that every proxied reply carries. */

import { once } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { type Denial, refusalOf } from '../dialects/denial.js'
import type { Dialect, TurnFacts } from '../dialects/dialect.js'
import type { Fault } from '../errors.js'
import { cutOff, isClosed, isComplete } from '../http/http2.js'
import { mediaTypes } from './answer/events.js'
import { Cancel, ClientGone, type Exchange, type Reply } from './exchange.js'
import { headerValue } from './headers.js'

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

/** Writes a streamed reply to a socket at the pace of its reader. */

/**
 * Resolves when the response is ended or destroyed. A stream that breaks ends with the dialect's error frame and a
 * destroyed connection, so that no client takes it for complete.
 */
export async function writeFrames(res: ServerResponse, reply: Reply, headers: OutgoingHttpHeaders): Promise<void> {
  const { frames, broken } = reply.rest!
  res.writeHead(reply.status, headers)
  try {
    const { body } = reply
    // Whoever still knows the reply would keep it while the rest is taken.
    reply.body = ''
    await write(res, body)
    for (;;) {
      const { done, value } = await frames.next()
      if (done) {
        res.end(value)
        return
      }
      await write(res, value)
    }
  } catch (error) {
    if (error instanceof ClientGone || isClosed(res)) {
      res.destroy()
      return
    }
    // The frame first, and only then the cut: both must reach the client.
    res.write(broken(error), () => cutOff(res))
  } finally {
    // Ends the upstream, whatever stopped us here.
    void frames.return('').catch(() => {})
  }
}

async function write(res: ServerResponse, text: string | Buffer): Promise<void> {
  if (text.length === 0 || res.write(text)) return
  if (isClosed(res)) throw new ClientGone()
  // `close` without `drain`: the reader left. Whichever comes, the other is listened for no longer: a slow reader drains often.
  const waiting = new AbortController()
  const { signal } = waiting
  await Promise.race([once(res, 'drain', { signal }), once(res, 'close', { signal })])
  waiting.abort()
  if (isClosed(res)) throw new ClientGone()
}

/** Cancels the exchange when the client leaves before its response is complete. */
export function cancelOnLeave(res: ServerResponse): Cancel {
  const cancel = new Cancel()
  res.once('close', () => {
    if (!isComplete(res)) cancel.cancel(new ClientGone())
  })
  return cancel
}
