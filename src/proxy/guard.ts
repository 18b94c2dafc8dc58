/**
 * The funnel: the one way from a client's bytes to an upstream and back, whatever server holds the socket and whatever
 * transport reaches the upstream. Fails closed: whatever is thrown on the way becomes an error, never a pass.
 */

import { Fault } from '../base/errors.js'
import { decodeBody } from '../edge/body.js'
import { describeError } from '../observe/log.js'
import { statusClass } from '../observe/metrics.js'
import { judgeAnswer } from './answer.js'
import type { UpstreamAnswer } from './ask.js'
import { ClientGone, type Exchange, type Inbound, type ProxyDeps, type Reply } from './exchange.js'
import { addVerdictHeaders, faultReply } from './reply.js'
import { type Forward, judgeRequest, largeTurn, readExchange } from './request.js'

/** Sends what was judged. `exchange.inbound.cancel` ends it at any phase. */
export type Transport = (exchange: Exchange, forward: Forward) => Promise<UpstreamAnswer>

/**
 * @param bytes the body as it came, still in its content coding
 * @returns the reply, faults included, and the request's verdict; undefined where the client has left
 */
export async function guard(
  deps: ProxyDeps,
  inbound: Inbound,
  bytes: Buffer,
  transport: Transport
): Promise<{ reply: Reply; exchange: Exchange | undefined } | undefined> {
  let exchange: Exchange | undefined
  try {
    const decoding = decodeBody(bytes, inbound.headers['content-encoding'], inbound.entry.bodyLimit)
    const decoded = decoding instanceof Promise ? await decoding : decoding
    await largeTurn(inbound, decoded.length)
    exchange = readExchange(deps, inbound, decoded)
    const verdict = await judgeRequest(exchange)
    let reply: Reply
    if ('bytes' in verdict) {
      reply = await relay(exchange, verdict, transport)
    } else {
      reply = verdict
      addVerdictHeaders(reply.headers, exchange)
    }
    observeOverhead(deps, exchange)
    return { reply, exchange }
  } catch (error) {
    if (error instanceof ClientGone || inbound.cancel.reason instanceof ClientGone) return undefined
    const fault = error instanceof Fault ? error : new Fault('internal_error', { cause: error })
    if (fault.status >= 500) {
      deps.log.error({ request_id: inbound.requestId, err: describeError(fault) }, fault.code)
    }
    const reply = faultReply(inbound.entry.dialect, fault, inbound.requestId)
    if (exchange !== undefined) {
      addVerdictHeaders(reply.headers, exchange)
      observeOverhead(deps, exchange)
    }
    return { reply, exchange }
  }
}

async function relay(exchange: Exchange, forward: Forward, transport: Transport): Promise<Reply> {
  const { deps, route } = exchange
  const began = deps.clock.monotonic()
  const evaluatedBefore = exchange.evaluationMs
  // A failure without a status of its own counts as the gateway's 502.
  let status = 502
  try {
    const answer = await transport(exchange, forward)
    status = answer.status
    if (Buffer.isBuffer(answer.body)) {
      exchange.upstreamMs = deps.clock.monotonic() - began
    } else {
      answer.body.once('close', () => {
        exchange.upstreamMs = deps.clock.monotonic() - began
      })
    }
    return await judgeAnswer(exchange, answer)
  } finally {
    if (exchange.upstreamMs === 0) {
      exchange.upstreamMs = deps.clock.monotonic() - began - (exchange.evaluationMs - evaluatedBefore)
    }
    // Who leaves before an answer came says nothing of the upstream.
    if (exchange.inbound.cancel.reason === undefined)
      deps.metrics.upstreamRequests.of(forward.upstream, statusClass(status)).inc()
    deps.metrics.upstreamDuration.of(route.id, statusClass(status)).observe(exchange.upstreamMs / 1000)
  }
}

function observeOverhead({ clock, metrics }: ProxyDeps, { route, inbound, upstreamMs }: Exchange): void {
  const total = clock.monotonic() - inbound.started
  metrics.overhead.of(route.id).observe(Math.max(0, total - upstreamMs) / 1000)
}
