/** Replies that the gateway writes itself, and the writer of streamed replies. */
import { once } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Fault } from '../base/errors.js'
import { type Denial, refusalOf } from '../dialects/denial.js'
import type { Dialect, TurnFacts } from '../dialects/dialect.js'
import { cutOff, isClosed } from '../edge/http2.js'
import { ClientGone, type Exchange, type Reply } from './exchange.js'
import { encodingOf, jsonType, refusalHeaders, streamHeaders } from './headers.js'
import { JudgedFailure } from './upstream/failure.js'

/** A fault in the dialect's own shape, which real SDKs read, or in the upstream's judged words. */
export function faultReply(dialect: Dialect, fault: Fault, requestId: string): Reply {
  const headers: Record<string, string> = {
    'content-type': jsonType,
    ...ownId(dialect, requestId),
    ...dialect.errorHeaders?.(fault.status),
    ...fault.headers
  }
  if (fault.code === 'unscannable_content') {
    const { pointer } = fault.fields.details as { pointer: string }
    Object.assign(headers, refusalHeaders(fault.code, pointer))
  }
  const body = fault instanceof JudgedFailure ? fault.body : dialect.error(fault, requestId)
  return { status: fault.status, headers, body: JSON.stringify(body) }
}

/** The reply to a stopped request: the dialect's error, or a turn of the conversation. */
export function denialReply(exchange: Exchange, denial: Denial): Reply {
  const { route, inbound, chat } = exchange
  const { status, code } = refusalOf(denial)
  const { developer, end_user: endUser } = denial.wording
  const isError = route.respond === 'error' || !route.spoken.hasTurns
  const { language } = isError ? developer : endUser
  const refusal = { ...refusalHeaders(code, denial.pointer, language), ...ownId(route.spoken, inbound.requestId) }
  if (isError) {
    const body = JSON.stringify(route.spoken.denied(denial, inbound.requestId))
    const headers = { ...refusal, ...route.spoken.errorHeaders?.(status), 'content-type': jsonType }
    return { status, headers, body }
  }
  const facts = turnFacts(exchange, denial)
  const encoding = encodingOf(route.spoken.framing(inbound.target))
  return chat.stream
    ? {
        status: 200,
        headers: { ...refusal, ...streamHeaders(exchange) },
        body: Buffer.from(route.spoken.turnStream(facts), encoding)
      }
    : { status: 200, headers: { ...refusal, 'content-type': jsonType }, body: JSON.stringify(route.spoken.turn(facts)) }
}

function ownId({ requestIdHeader }: Dialect, requestId: string): Record<string, string> {
  return requestIdHeader === undefined ? {} : { [requestIdHeader]: requestId }
}

/** The facts for a conversation turn that replaces a stopped request or answer. */
export function turnFacts({ inbound, body, readAt }: Exchange, denial: Denial): TurnFacts {
  const { requestId, target } = inbound
  return { denial, request: body, target, requestId, created: Math.floor(readAt / 1000) }
}

/**
 * Writes a streamed reply to a socket at the pace of its reader. Resolves when the response is ended or destroyed. A stream that breaks ends with the dialect's error frame and a
 * destroyed connection, so that no client takes it for complete.
 */
export async function writeFrames(res: ServerResponse, reply: Reply, headers: OutgoingHttpHeaders): Promise<void> {
  const { frames, broken, encoding } = reply.rest!
  res.writeHead(reply.status, headers)
  try {
    const { body } = reply
    // Freed: references to the reply would keep it in memory while the rest is sent.
    reply.body = ''
    await write(res, body)
    for (;;) {
      const { done, value } = await frames.next()
      if (done) {
        res.end(value, encoding)
        return
      }
      await write(res, value, encoding)
    }
  } catch (error) {
    if (error instanceof ClientGone || isClosed(res)) {
      res.destroy()
      return
    }
    // The frame first, and only then the cut: both must reach the client.
    res.write(broken(error), encoding, () => cutOff(res))
  } finally {
    // Ends the upstream, whatever the reason to stop.
    void frames.return('').catch(() => {})
  }
}

async function write(res: ServerResponse, text: string | Buffer, encoding: BufferEncoding = 'utf8'): Promise<void> {
  if (text.length === 0 || res.write(text, encoding)) return
  if (isClosed(res)) throw new ClientGone()
  // `close` without `drain`: the reader left. The signal removes the other listener: a slow reader drains often.
  const waiting = new AbortController()
  const { signal } = waiting
  await Promise.race([once(res, 'drain', { signal }), once(res, 'close', { signal })])
  waiting.abort()
  if (isClosed(res)) throw new ClientGone()
}
