/**
 * A transport over an existing server of http-proxy. What http-proxy would do by itself (copy the client's headers, pipe
 * the body and the answer, follow redirects) is switched off here.
 */
import { IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type HttpProxy from 'http-proxy'
import { Fault } from '../base/errors.js'
import { fillPath } from '../dialects/path.js'
import type { Cancel } from './cancel.js'
import { candidates, transportFault } from './forward.js'
import type { Transport } from './guard.js'
import { upstreamHeaders } from './headers.js'
import type { LetGo } from './places.js'
import type { ChatProxy } from './proxy.js'
import type { Upstream } from './upstreams.js'
import { acceptFor } from './wire.js'

/** http-proxy sets time-outs on the client's socket; those are the server's business. */
const standSocket = { destroyed: false, setTimeout() {} }

/** Errors of a connection that was never made: nothing was sent, so another upstream may be asked. */
const unconnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'])

export function proxyTransport(chat: ChatProxy, proxy: HttpProxy): Transport {
  const waiting: Waiting = new WeakMap()
  proxy.on('proxyRes', (answer, request) => waiting.get(request)?.answered(answer))
  // An upstream that switches protocols ends the request without an answer and without an error.
  proxy.on('proxyReq', (outgoing, request) => outgoing.once('close', () => waiting.get(request)?.closed()))
  return async ({ route, inbound, chat: request }, { upstream: name, bytes }) => {
    const { cancel } = inbound
    const first = chat.upstreams.get(name)!
    const disarm = cancel.after(first.totalTimeoutMs, () => new Fault('upstream_timeout'))
    let failure: unknown
    for (const upstream of candidates(chat.upstreams, first)) {
      const headers = upstreamHeaders(route.spoken, inbound.headers, {
        requestId: inbound.requestId,
        accept: acceptFor(route.spoken, request.stream, inbound.target),
        length: bytes.length,
        credential: upstream.credential(route.spoken),
        propagate: chat.deps.propagate
      })
      let letGo: LetGo | undefined
      try {
        letGo = await upstream.places.take(inbound.caller.lineage, cancel)
        const path = upstream.pathOf(fillPath(route.upstreamPath, inbound.target.params)) + inbound.target.query
        const answer = await askByProxy(proxy, waiting, upstream, path, headers, bytes, cancel)
        answer.once('close', disarm)
        answer.once('close', letGo)
        return { status: answer.statusCode ?? 0, headers: answer.headers, body: answer, key: upstream.key }
      } catch (error) {
        failure = error
        letGo?.()
        if (!unconnected.has((error as NodeJS.ErrnoException).code ?? '') || cancel.reason !== undefined) break
      }
    }
    disarm()
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
    // http-proxy sends on whatever headers and target its request has: it gets one that holds the allowed ones alone.
    const stand = new IncomingMessage(null as never)
    Object.assign(stand, { method: 'POST', url: path, headers, httpVersion: '1.1', socket: standSocket })
    let answered: IncomingMessage | undefined
    const stop = (reason: Error): void => {
      clearTimeout(timer)
      // What http-proxy listens for on its request to end the one that it has made.
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
    cancel.listen(stop)
  })
}
