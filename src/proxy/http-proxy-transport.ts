/**
 * A transport over an existing server of http-proxy. What http-proxy would do by itself (copy the client's headers, pipe
 * the body and the answer, follow redirects) is switched off here.
 */
import { IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type HttpProxy from 'http-proxy'
import { Fault } from '../errors.js'
import { limitTime, type UpstreamAnswer } from './forward.js'
import type { Transport } from './guard.js'
import { upstreamHeaders } from './headers.js'
import type { ChatProxy } from './proxy.js'
import type { Upstream } from './upstreams.js'

/** http-proxy sets time-outs on the client's socket; those are the server's business. */
const standSocket = { destroyed: false, setTimeout() {} }

/** Errors of a connection that was never made: nothing was sent, so another upstream may be asked. */
const unconnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'])

export function proxyTransport(chat: ChatProxy, proxy: HttpProxy): Transport {
  const waiting = new WeakMap<IncomingMessage, (answer: IncomingMessage) => void>()
  proxy.on('proxyRes', (answer, request) => waiting.get(request)?.(answer))
  return async ({ route, inbound, chat: request }, { upstream: name, bytes }) => {
    const first = chat.upstreams.get(name)!
    const disarm = limitTime(inbound.abort, first.totalTimeoutMs)
    let failure: unknown
    for (const upstream of [first, ...first.fallback.map((other) => chat.upstreams.get(other)!)]) {
      const headers = {
        ...upstreamHeaders(route.spoken, inbound.headers, {
          requestId: inbound.requestId,
          stream: request.stream,
          length: bytes.length
        }),
        ...upstream.credential(route.spoken)
      }
      try {
        const path = upstream.pathOf(route.upstreamPath) + inbound.query
        const answer = await ask(proxy, waiting, upstream, path, headers, bytes, inbound.abort.signal)
        answer.body.once('close', disarm)
        return answer
      } catch (error) {
        failure = error
        if (!unconnected.has((error as NodeJS.ErrnoException).code ?? '') || inbound.abort.signal.aborted) break
      }
    }
    disarm()
    if (inbound.abort.signal.aborted) throw inbound.abort.signal.reason
    throw failure instanceof Fault ? failure : new Fault('upstream_error', { cause: failure })
  }
}

function ask(
  proxy: HttpProxy,
  waiting: WeakMap<IncomingMessage, (answer: IncomingMessage) => void>,
  upstream: Upstream,
  path: string,
  headers: Record<string, string>,
  bytes: Buffer,
  signal: AbortSignal
): Promise<UpstreamAnswer> {
  return new Promise((resolve, reject) => {
    // http-proxy sends on whatever headers and target its request has: it gets one that holds the allowed ones alone.
    const stand = new IncomingMessage(null as never)
    Object.assign(stand, { method: 'POST', url: path, headers, httpVersion: '1.1', socket: standSocket })
    const leave = () => stand.emit('aborted')
    signal.addEventListener('abort', leave, { once: true })
    const timer = setTimeout(() => {
      reject(new Fault('upstream_timeout'))
      leave()
    }, upstream.firstByteTimeoutMs)
    const settle = () => clearTimeout(timer)
    waiting.set(stand, (answer) => {
      settle()
      answer.setTimeout(upstream.idleTimeoutMs, () => answer.destroy(new Fault('upstream_timeout')))
      answer.once('close', () => signal.removeEventListener('abort', leave))
      signal.addEventListener('abort', () => answer.destroy(signal.reason as Error), { once: true })
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: answer, key: upstream.key })
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
      settle()
      signal.removeEventListener('abort', leave)
      reject(signal.aborted ? signal.reason : error)
    })
  })
}
