/**
 * The guard for an existing `http-proxy` server in a plain node:http or Express program: http-proxy carries the bytes,
 * the gateway does everything else.
 */

import { IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type HttpProxy from 'http-proxy'
import { Fault, invalid } from '../../base/errors.js'
import type { LetGo } from '../../base/places.js'
import { fillPath } from '../../dialects/path.js'
import { checkBodyHeaders, hasBody, payloadTooLarge } from '../../edge/body.js'
import { isHttp2 } from '../../edge/http2.js'
import { canonicalTarget, checkFraming, wrongVersion } from '../../edge/target.js'
import type { UnderWay } from '../../edge/under-way.js'
import type { Admission } from '../../identity/admission.js'
import { limitHeaders } from '../../limits/fault.js'
import { statusClass } from '../../observe/metrics.js'
import { type Cancel, ClientGone, cancelOnLeave, type Reply } from '../exchange.js'
import { acceptFor, upstreamHeaders } from '../headers.js'
import type { ChatProxy } from '../proxy.js'
import { faultReply, writeFrames } from '../reply.js'
import { checkQuery, type PathEntry, type RouteTable } from '../request/routes.js'
import { candidates, signWith, type Transport, transportFault } from '../upstream/send.js'
import type { Upstream } from '../upstream/upstreams.js'
import { passAt, passThrough } from './other-paths.js'

export interface NodeGuardOptions {
  chat: ChatProxy
  admission: Admission
  /** The program's own http-proxy server. Its agent and TLS settings are used, its targets and headers are not. */
  proxy: HttpProxy
  clientAddress: (peer: string, forwardedFor: string | undefined) => string
  nextRequestId: () => string
  /** Is told of every request. */
  underWay: UnderWay
}

/** `next` is called, where given, for paths that are not in the route table; without it they are 404. */
export type NodeGuard = (req: IncomingMessage, res: ServerResponse, next?: () => void) => void

export function createNodeGuard(options: NodeGuardOptions): NodeGuard {
  const { chat } = options
  const transport = proxyTransport(chat, options.proxy)
  return (req, res, next) => {
    // Express keeps the full target here where it has cut a mount path off `url`.
    const target = (req as { originalUrl?: string }).originalUrl ?? req.url ?? ''
    const path = canonicalTarget(target, undefined, (path) => chat.table.find(path) !== undefined)
    const found = path instanceof Fault ? undefined : chat.table.find(path)
    const passes = path instanceof Fault ? undefined : passAt(chat.table, path, req.headers)?.entry
    // An odd spelling never goes to `next`: a later handler may read it as the guarded path.
    if (found === undefined && passes === undefined && next !== undefined && !(path instanceof Fault)) return next()
    void answer(options, transport, req, res, { raw: target, found, passes: found === undefined ? passes : undefined })
  }
}

interface Asked {
  /** The raw request target. */
  raw: string
  found: ReturnType<RouteTable['find']>
  passes: PathEntry | undefined
}

async function answer(
  options: NodeGuardOptions,
  transport: Transport,
  req: IncomingMessage,
  res: ServerResponse,
  { raw: target, found, passes }: Asked
): Promise<void> {
  const { chat } = options
  const { metrics, clock, funnel } = chat
  const entry = found?.entry
  const requestId = options.nextRequestId()
  const started = clock.monotonic()
  const dialect = (entry ?? passes)?.dialect ?? chat.table.entries[0]!.dialect
  const headers: Record<string, string> = { 'x-request-id': requestId }
  options.underWay.begin(req, res)
  const cancel = cancelOnLeave(res)
  res.once('finish', () =>
    metrics.requests.of(entry?.path ?? (passes ? 'pass' : 'unmatched'), statusClass(res.statusCode)).inc()
  )
  let reply: Reply | undefined
  try {
    const framing = checkFraming(req) ?? checkVersion(req)
    if (framing !== undefined) headers.connection = 'close'
    // http-proxy carries bytes, not events: a session would pass unjudged, so this edge has none.
    if ((found === undefined && passes === undefined) || entry?.dialect.isSocket === true) throw new Fault('not_found')
    const method = entry === undefined ? 'GET' : 'POST'
    if (req.method !== method) throw new Fault('method_not_allowed', { headers: { allow: method } })
    if (framing !== undefined) throw framing
    const admitted = await options.admission.admit({
      headers: req.headers,
      address: options.clientAddress(
        req.socket.remoteAddress ?? '',
        req.headers['x-forwarded-for'] as string | undefined
      ),
      scope: 'safety:evaluate',
      cost: entry === undefined ? 0 : 1,
      keyHeaders: dialect.keyHeaders,
      onPlace: (letGo) => options.underWay.whenOver(res, letGo)
    })
    if (admitted instanceof Fault) throw admitted
    if (admitted.limit !== undefined) Object.assign(headers, limitHeaders(admitted.limit))
    if (found === undefined) {
      const { lineage } = admitted.caller
      reply = await passThrough(chat, { target, headers: req.headers, requestId, lineage, cancel })
    } else {
      const refused = checkBodyHeaders(req, dialect.form === undefined ? 'json' : 'form')
      if (refused !== undefined) throw refused
      const { params } = found
      const asked = { params, query: checkQuery(dialect, target) }
      const bytes = await readBody(req, found.entry.bodyLimit)
      const { caller } = admitted
      const inbound = { entry: found.entry, headers: req.headers, target: asked, caller, requestId, started, cancel }
      reply = (await funnel.run(inbound, bytes, transport))?.reply
    }
  } catch (error) {
    if (!(cancel.reason instanceof ClientGone)) {
      const fault = error instanceof Fault ? error : new Fault('internal_error', { cause: error })
      reply = faultReply(dialect, fault, requestId)
    }
  }
  if (reply === undefined) {
    res.destroy()
    return
  }
  const all = { ...headers, ...reply.headers }
  if (reply.rest !== undefined) return writeFrames(res, reply, all)
  const body = Buffer.isBuffer(reply.body) ? reply.body : Buffer.from(reply.body)
  res.writeHead(reply.status, { ...all, 'content-length': body.length }).end(body)
}

/** http-proxy carries HTTP/1 alone. */
function checkVersion(req: IncomingMessage): Fault | undefined {
  return isHttp2(req) ? wrongVersion() : undefined
}

async function readBody(req: IncomingMessage, limit: number): Promise<Buffer> {
  // A body parser that ran before left an object: its bytes are gone, and another serialisation is not what was sent.
  if (req.readableEnded && hasBody(req)) {
    throw new Error('the body was read before the guard: register the guard before any body parser')
  }
  if (Number(req.headers['content-length'] ?? 0) > limit) throw payloadTooLarge(limit)
  const chunks: Buffer[] = []
  let length = 0
  // Not destroyed on a throw: the socket still has to carry the 413.
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > limit) throw payloadTooLarge(limit)
    chunks.push(chunk)
  }
  if (!req.complete) throw invalid('', 'malformed_json', 'The body ended before it was complete.')
  return Buffer.concat(chunks, length)
}

/** Stands in for the client's socket, on which http-proxy would set time-outs: only the server sets those. */
const standSocket = { destroyed: false, setTimeout() {} }

/** Errors of a connection that was never made: nothing was sent, so another upstream may be asked. */
const unconnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'])

/**
 * A transport over an existing server of http-proxy. The defaults of http-proxy are off: it copies no client headers,
 * pipes neither body nor answer, and follows no redirects.
 */
function proxyTransport(chat: ChatProxy, proxy: HttpProxy): Transport {
  const waiting: Waiting = new WeakMap()
  proxy.on('proxyRes', (answer, request) => waiting.get(request)?.answered(answer))
  // An upstream that switches protocols ends the request without an answer and without an error.
  proxy.on('proxyReq', (outgoing, request) => outgoing.once('close', () => waiting.get(request)?.closed()))
  return async ({ route, inbound, chat: request }, { upstream: name, bytes, type }) => {
    const { cancel } = inbound
    const first = chat.upstreams.get(name)!
    const timer = cancel.after(first.totalTimeoutMs)
    let failure: unknown
    for (const upstream of candidates(chat.upstreams, first)) {
      const headers = upstreamHeaders(route.spoken, inbound.headers, {
        requestId: inbound.requestId,
        accept: acceptFor(route.spoken, request.stream, inbound.target),
        body: { length: bytes.length, type },
        credential: upstream.credential(route.spoken),
        propagate: chat.sender.propagate
      })
      let letGo: LetGo | undefined
      try {
        letGo = await upstream.places.take(inbound.caller.lineage, cancel)
        const path = upstream.pathOf(fillPath(route.upstreamPath, inbound.target.params)) + inbound.target.query
        const request = { method: 'POST', path, headers, body: bytes }
        const signed = upstream.sign && (await signWith(upstream.sign, request, cancel))
        Object.assign(headers, signed?.headers)
        const answer = await askByProxy(proxy, waiting, upstream, path, headers, bytes, cancel)
        answer.once('close', () => clearTimeout(timer))
        answer.once('close', letGo)
        return {
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          body: answer,
          key: signed === undefined ? upstream.key : signed.secret
        }
      } catch (error) {
        failure = error
        letGo?.()
        if (!unconnected.has((error as NodeJS.ErrnoException).code ?? '') || cancel.reason !== undefined) break
      }
    }
    clearTimeout(timer)
    throw cancel.reason ?? transportFault(failure)
  }
}

type Waiting = WeakMap<IncomingMessage, { answered(answer: IncomingMessage): void; closed(): void }>

function askByProxy(
  proxy: HttpProxy,
  waiting: Waiting,
  upstream: Upstream,
  path: string,
  headers: Record<string, string>,
  bytes: Buffer,
  cancel: Cancel
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // http-proxy forwards all headers of its request: so its request is a stand-in that holds only the allowed ones.
    const stand = new IncomingMessage(null as never)
    Object.assign(stand, { method: 'POST', url: path, headers, httpVersion: '1.1', socket: standSocket })
    let answered: IncomingMessage | undefined
    const stop = (reason: Error): void => {
      clearTimeout(timer)
      // http-proxy listens for this event to end its own request.
      stand.emit('aborted')
      answered?.destroy(reason)
      reject(reason)
    }
    const timer = setTimeout(() => stop(new Fault('upstream_timeout')), upstream.firstByteTimeoutMs)
    waiting.set(stand, {
      answered(answer) {
        clearTimeout(timer)
        answered = answer
        answer.setTimeout(upstream.idleTimeoutMs, () => answer.destroy(new Fault('upstream_timeout')))
        resolve(answer)
      },
      closed() {
        if (answered === undefined) stop(new Fault('upstream_error', { internal: 'closed without an answer' }))
      }
    })
    const options = {
      target: upstream.origin,
      buffer: Readable.from([bytes]),
      selfHandleResponse: true,
      changeOrigin: true,
      followRedirects: false,
      ignorePath: false,
      prependPath: true,
      toProxy: true,
      xfwd: false,
      headers: {},
      ws: false,
      method: 'POST'
    }
    // The response object is only asked whether it is finished: with `selfHandleResponse` nothing is written to it.
    proxy.web(stand, { headersSent: false, finished: false } as unknown as ServerResponse, options, (error) => {
      clearTimeout(timer)
      reject(error)
    })
    cancel.carriedBy({ cancelled: stop })
  })
}
