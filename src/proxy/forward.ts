/** Sends one judged body to an upstream, buffered and with our own framing, and hands back its answer unread. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { errors } from 'undici'
import { Fault } from '../errors.js'
import { ConnectFailed, type Upstream, type Upstreams } from './upstreams.js'

/** An answer as the wire gave it, whichever transport brought it. */
export interface UpstreamAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: Readable
  /** The credential that was used: never shown to a client. */
  key: string | undefined
}

export interface Sending {
  method: 'GET' | 'POST'
  path: string
  /** Query string with its question mark, as the dialect allowed it, or empty. */
  query: string
  headers: Record<string, string>
  body: Buffer | undefined
  credential: (upstream: Upstream) => Readonly<Record<string, string>>
  /** Aborted when the client leaves, and by `send` itself when the exchange takes too long. */
  abort: AbortController
}

/**
 * @throws Fault `upstream_timeout` or `upstream_error`; the abort's own error where the client left
 */
export async function send(upstreams: Upstreams, name: string, sending: Sending): Promise<UpstreamAnswer> {
  const first = upstreams.get(name)
  if (first === undefined) throw new Fault('upstream_error', { internal: `unknown upstream ${name}` })
  const { signal } = sending.abort
  const disarm = limitTime(sending.abort, first.totalTimeoutMs)
  let failure: unknown
  for (const upstream of [first, ...first.fallback.map((other) => upstreams.get(other))]) {
    if (upstream === undefined) continue
    try {
      const { statusCode, headers, body } = await upstream.pool.request({
        method: sending.method,
        path: upstream.pathOf(sending.path) + sending.query,
        headers: { ...sending.headers, ...sending.credential(upstream) },
        body: sending.body ?? null,
        signal
      })
      body.once('close', disarm)
      return { status: statusCode, headers, body, key: upstream.key }
    } catch (error) {
      failure = error
      // Only where no connection was made is it certain that no byte of the request was written.
      if (!(error instanceof ConnectFailed) || signal.aborted) break
    }
  }
  disarm()
  throw signal.aborted ? signal.reason : transportFault(failure)
}

/** Ends an exchange that takes longer than the upstream is given in all. @returns what stops the clock */
export function limitTime(abort: AbortController, totalMs: number): () => void {
  const timer = setTimeout(() => abort.abort(new Fault('upstream_timeout')), totalMs)
  return () => clearTimeout(timer)
}

/** A failure of the transport in the terms of the contract: late is 504, everything else 502. */
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
 * Reads an answer to its end.
 * @throws Fault `upstream_error` beyond the limit, and for an answer that ends before its end
 */
export async function readAll({ headers, body }: UpstreamAnswer, limit: number): Promise<Buffer> {
  if (Number(headers['content-length'] ?? 0) > limit) {
    body.destroy()
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
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length)
}
