/** Sends one judged body to an upstream, or to its fallback where nothing was sent yet, and hands back the answer. */
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { type Dispatcher, errors } from 'undici'
import { Fault } from '../../base/errors.js'
import type { LetGo } from '../../base/places.js'
import type { Dialect } from '../../dialects/dialect.js'
import { fillPath } from '../../dialects/path.js'
import type { Cancel, Cancellable, Exchange, Forward } from '../exchange.js'
import { acceptFor, type Propagate, streamedType, upstreamHeaders } from '../headers.js'
import type { Sign, Signed, Unsigned } from './aws.js'
import { ConnectFailed, type Upstream, type Upstreams } from './upstreams.js'

/** Unread bytes of a stream at which receiving pauses. */
const mostUnread = 1024

/** An answer as it came over the wire, for every transport. */
export interface UpstreamAnswer {
  status: number
  headers: IncomingHttpHeaders
  /** All of it, or a stream to be read. */
  body: Buffer | Readable
  /** The credential that was used: never shown to a client. */
  key: string | undefined
}

/** Sends the judged request. `exchange.inbound.cancel` ends it at any phase. */
export type Transport = (exchange: Exchange, forward: Forward) => Promise<UpstreamAnswer>

export interface Sending {
  method: 'GET' | 'POST' | 'DELETE'
  /** Path of the route, with its parameters filled in. */
  path: string
  /** Query string with its question mark, as the dialect allowed it, or empty. */
  query: string
  dialect: Dialect
  /** As the client sent them; the allow-list chooses. */
  headers: IncomingHttpHeaders
  requestId: string
  /** Requested media type. */
  accept: string
  body: Buffer | undefined
  /** Media type of the body. Default: JSON. */
  type?: string
  /** Bytes of a whole answer. */
  limit: number
  /** Media type of an answer that is returned as a stream; event streams always are. */
  streamed: string | undefined
  /** Lineage of the calling key: keys take turns where all connections are taken. */
  lineage: string
  cancel: Cancel
}

/** Sends over the undici pools of one configuration. */
export class Sender {
  readonly upstreams: Upstreams
  readonly propagate: Propagate | undefined
  readonly #answerLimit: number

  /**
   * @param propagate undefined: the client's own trace headers pass
   * @param answerLimit bytes of an answer that is not streamed
   */
  constructor(upstreams: Upstreams, propagate: Propagate | undefined, answerLimit: number) {
    this.upstreams = upstreams
    this.propagate = propagate
    this.#answerLimit = answerLimit
  }

  /** @throws as `send` */
  readonly transport: Transport = ({ route, inbound, chat }, { upstream, bytes, type }) => {
    const { target, headers, requestId, caller, cancel } = inbound
    return this.send(upstream, {
      method: 'POST',
      path: fillPath(route.upstreamPath, target.params),
      query: target.query,
      dialect: route.spoken,
      headers,
      requestId,
      accept: acceptFor(route.spoken, chat.stream, target),
      body: bytes,
      type,
      limit: this.#answerLimit,
      streamed: streamedType(route.spoken, chat.stream, target),
      lineage: caller.lineage,
      cancel
    })
  }

  /**
   * @param name of the upstream
   * @throws Fault `upstream_timeout`, `upstream_error`, also for an answer that is too large, or `overloaded` where no
   * connection became free in time; the reason of a cancel
   */
  async send(name: string, sending: Sending): Promise<UpstreamAnswer> {
    const first = this.upstreams.get(name)
    if (first === undefined) throw new Fault('upstream_error', { internal: `unknown upstream ${name}` })
    const { cancel, lineage } = sending
    const timer = cancel.after(first.totalTimeoutMs)
    let failure: unknown
    for (const upstream of candidates(this.upstreams, first)) {
      try {
        const place = upstream.places.take(lineage, cancel)
        const letGo = place instanceof Promise ? await place : place
        const signed = upstream.sign && (await this.#sign(upstream, sending, letGo))
        const answer = await this.#ask(upstream, sending, letGo, signed)
        if (Buffer.isBuffer(answer.body)) clearTimeout(timer)
        else answer.body.once('close', () => clearTimeout(timer))
        return answer
      } catch (error) {
        failure = error
        // Only where no connection was made is it certain that no byte of the request was written.
        if (!(error instanceof ConnectFailed) || cancel.reason !== undefined) break
      }
    }
    clearTimeout(timer)
    throw cancel.reason ?? transportFault(failure)
  }

  #headers(upstream: Upstream, sending: Sending): Record<string, string> {
    const { dialect, headers, requestId, accept, body, type = 'application/json' } = sending
    return upstreamHeaders(dialect, headers, {
      requestId,
      accept,
      body: body && { length: body.length, type },
      credential: upstream.credential(dialect),
      propagate: this.propagate
    })
  }

  /** Rejects with a Fault where there are no credentials, and with the reason of a cancel. */
  async #sign(upstream: Upstream, sending: Sending, letGo: LetGo): Promise<Signed> {
    const { method, path, query, body, cancel } = sending
    const request = { method, path: upstream.pathOf(path) + query, headers: this.#headers(upstream, sending), body }
    try {
      return await signWith(upstream.sign!, request, cancel)
    } catch (error) {
      letGo()
      throw error
    }
  }

  /** Rejects with the transport's own error, with the reason of a cancel, or with a Fault. */
  #ask(upstream: Upstream, sending: Sending, letGo: LetGo, signed: Signed | undefined): Promise<UpstreamAnswer> {
    const { method, path, query, body } = sending
    const headers = Object.assign(this.#headers(upstream, sending), signed?.headers)
    return new Promise((resolve, reject) => {
      const key = signed === undefined ? upstream.key : signed.secret
      const collector = new AnswerCollector(key, sending, letGo, resolve, reject)
      const options = { method, path: upstream.pathOf(path) + query, headers, body: body ?? null }
      upstream.pool.dispatch(options, collector)
    })
  }
}

/** The signature of a request, waited for no longer than its exchange goes on. */
export function signWith(sign: Sign, request: Unsigned, cancel: Cancel): Promise<Signed> {
  return new Promise((resolve, reject) => {
    if (cancel.reason !== undefined) return reject(cancel.reason)
    const forget = cancel.onCancel(reject)
    sign(request).then(resolve, reject).finally(forget)
  })
}

/** An upstream and its fallbacks, for the case that no connection can be made. */
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
 * Reads an answer to its end.
 * @throws Fault `upstream_error` beyond the limit, and for a truncated answer
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

/**
 * The request accepts no coding, but some upstreams compress all the same. Names of codings know no case (RFC 9110,
 * section 8.4.1).
 */
export function codingOf({ headers }: UpstreamAnswer): string | undefined {
  return headers['content-encoding']?.toLowerCase()
}

/** Drops an answer that is not read, and the connection with it where something of it is still to come. */
export function discard(body: Buffer | Readable): void {
  if (!Buffer.isBuffer(body)) body.on('error', () => {}).destroy()
}

/**
 * Collects a whole answer as it comes, without a stream, a promise per chunk and an abort signal (about a fifth of the cost
 * of `Pool.request`, measured); an event stream is handed on as a stream with back-pressure.
 */
class AnswerCollector implements Dispatcher.DispatchHandler, Cancellable {
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #headers: IncomingHttpHeaders = {}
  #chunks: Buffer[] = []
  #length = 0
  #stream: Readable | undefined
  readonly #key: string | undefined
  readonly #sending: Sending
  readonly #letGo: LetGo
  readonly #resolve: (answer: UpstreamAnswer) => void
  readonly #reject: (error: Error) => void

  constructor(
    key: string | undefined,
    sending: Sending,
    letGo: LetGo,
    resolve: (answer: UpstreamAnswer) => void,
    reject: (error: Error) => void
  ) {
    this.#key = key
    this.#sending = sending
    this.#letGo = letGo
    this.#resolve = resolve
    this.#reject = reject
    sending.cancel.carriedBy(this)
  }

  cancelled(reason: Error): void {
    this.#controller?.abort(reason)
    this.#stream?.destroy(reason)
    this.#reject(reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // The client may have left while the request waited for a connection: then it is not sent at all.
    const { reason } = this.#sending.cancel
    if (reason !== undefined) controller.abort(reason)
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // Interim answers (RFC 9110 section 15.2) hold nothing that a client needs.
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    const type = String(headers['content-type'] ?? '').toLowerCase()
    const { streamed } = this.#sending
    // A failure is read as a whole, whatever its media type.
    const isStream = status < 300 && streamed !== undefined && type.startsWith(streamed)
    if (isStream || type.startsWith('text/event-stream')) {
      this.#stream = new Readable({
        highWaterMark: mostUnread,
        read: () => controller.resume(),
        destroy: (error, done) => {
          controller.abort(error ?? new Error('no longer wanted'))
          done(error)
        }
      })
      // The raw headers are views that would keep their whole receive buffer in memory for the length of the stream.
      controller.rawHeaders = null
      this.#resolve({ status, headers, body: this.#stream, key: this.#key })
    } else if (Number(headers['content-length'] ?? 0) > this.#sending.limit) {
      this.cancelled(new Fault('upstream_error', { internal: 'the answer is too large' }))
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#stream !== undefined) {
      // Copied: a view would keep its whole receive buffer in memory until it is read.
      if (!this.#stream.push(Buffer.from(chunk))) controller.pause()
      return
    }
    this.#length += chunk.length
    if (this.#length > this.#sending.limit) {
      this.cancelled(new Fault('upstream_error', { internal: 'the answer is too large' }))
    } else {
      this.#chunks.push(chunk)
    }
  }

  onResponseEnd(): void {
    this.#letGo()
    if (this.#stream !== undefined) {
      this.#stream.push(null)
      return
    }
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#length)
    this.#resolve({ status: this.#status, headers: this.#headers, body, key: this.#key })
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#letGo()
    this.#stream?.destroy(error)
    this.#reject(error)
  }
}
