/** Sends one judged body to an upstream, or to its fallback where nothing was sent yet, and hands back the answer. */
import type { Readable } from 'node:stream'
import { errors } from 'undici'
import { Fault } from '../base/errors.js'
import { ask, type Question, type UpstreamAnswer } from './ask.js'
import { ConnectFailed, type Upstream, type Upstreams } from './upstreams.js'

export interface Sending extends Omit<Question, 'headers'> {
  /** Query string with its question mark, as the dialect allowed it, or empty. */
  query: string
  /** What is sent to this upstream, its credential included. */
  headers: (upstream: Upstream) => Record<string, string>
}

/**
 * @throws Fault `upstream_timeout`, `upstream_error` or `overloaded`; the reason of a cancel
 */
export async function send(upstreams: Upstreams, name: string, sending: Sending): Promise<UpstreamAnswer> {
  const first = upstreams.get(name)
  if (first === undefined) throw new Fault('upstream_error', { internal: `unknown upstream ${name}` })
  const { method, body, limit, streamed, lineage, cancel } = sending
  const disarm = cancel.after(first.totalTimeoutMs, () => new Fault('upstream_timeout'))
  let failure: unknown
  for (const upstream of candidates(upstreams, first)) {
    try {
      const path = upstream.pathOf(sending.path) + sending.query
      const answer = await ask(upstream, {
        method,
        path,
        headers: sending.headers(upstream),
        body,
        limit,
        streamed,
        lineage,
        cancel
      })
      if (Buffer.isBuffer(answer.body)) disarm()
      else answer.body.once('close', disarm)
      return answer
    } catch (error) {
      failure = error
      // Only where no connection was made is it certain that no byte of the request was written.
      if (!(error instanceof ConnectFailed) || cancel.reason !== undefined) break
    }
  }
  disarm()
  throw cancel.reason ?? transportFault(failure)
}

/** An upstream and those to ask where it cannot be connected to. */
export function candidates(upstreams: Upstreams, first: Upstream): readonly Upstream[] {
  if (first.fallback.length === 0) return [first]
  return [first, ...first.fallback.flatMap((name) => upstreams.get(name) ?? [])]
}

/** A failure of the transport in the terms of docs/api.md, section 2: late is 504, everything else 502. */
export function transportFault(error: unknown): Fault {
  if (error instanceof Fault) return error
  const cause = error instanceof ConnectFailed ? error.cause : error
  const late =
    cause instanceof errors.HeadersTimeoutError ||
    cause instanceof errors.BodyTimeoutError ||
    cause instanceof errors.ConnectTimeoutError ||
    (cause as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT'
  return new Fault(late ? 'upstream_timeout' : 'upstream_error', { cause })
}

/**
 * An answer to its end.
 * @throws Fault `upstream_error` beyond the limit, and for an answer that ends before its end
 */
export async function readAll({ body, headers }: UpstreamAnswer, limit: number): Promise<Buffer> {
  if (Buffer.isBuffer(body)) return body
  if (Number(headers['content-length'] ?? 0) > limit) {
    discard(body)
    throw new Fault('upstream_error', { internal: 'the answer is too large' })
  }
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > limit) throw new Fault('upstream_error', { internal: 'the answer is too large' })
      chunks.push(chunk)
    }
  } catch (error) {
    throw transportFault(error)
  }
  return Buffer.concat(chunks, length)
}

/** Upstreams are asked for none and some compress all the same. Names of codings know no case (RFC 9110, section 8.4.1). */
export function codingOf({ headers }: UpstreamAnswer): string | undefined {
  return headers['content-encoding']?.toLowerCase()
}

/** Drops an answer that is not read, and the connection with it where something of it is still to come. */
export function discard(body: Buffer | Readable): void {
  if (!Buffer.isBuffer(body)) body.on('error', () => {}).destroy()
}
