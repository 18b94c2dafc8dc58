/** Opens the upstream's side of a session: after the caller is admitted, and before it is told anything. */
import type { WebSocket } from 'ws'
import { Fault } from '../../base/errors.js'
import type { Exchange } from '../exchange.js'
import { candidates, transportFault } from '../forward.js'
import { upstreamHeaders } from '../headers.js'
import type { LetGo } from '../places.js'
import { ConnectFailed, type Upstream, type Upstreams } from '../upstreams.js'

/** Bytes of one event of an upstream. */
const maxEventBytes = 16 * 1024 * 1024

export interface Connected {
  socket: WebSocket
  upstream: Upstream
}

/**
 * Tries the upstream and, where no connection was made, its fallback.
 * @throws Fault `upstream_timeout`, `upstream_error` or `overloaded`; the reason of a cancel
 */
export async function connect(upstreams: Upstreams, exchange: Exchange): Promise<Connected> {
  const first = upstreams.get(exchange.route.upstream)
  if (first === undefined) throw new Fault('upstream_error', { internal: 'unknown upstream' })
  let failure: unknown
  for (const upstream of candidates(upstreams, first)) {
    let letGo: LetGo | undefined
    try {
      letGo = await upstream.places.take(exchange.inbound.caller.lineage, exchange.inbound.cancel)
      const socket = await open(upstream, exchange)
      socket.once('close', letGo)
      return { socket, upstream }
    } catch (error) {
      letGo?.()
      failure = error
      if (!(error instanceof ConnectFailed)) break
    }
  }
  throw exchange.inbound.cancel.reason ?? transportFault(failure)
}

async function open(upstream: Upstream, { deps, route, inbound }: Exchange): Promise<WebSocket> {
  const { WebSocket } = await import('ws')
  const {
    accept: _,
    'accept-encoding': __,
    ...headers
  } = upstreamHeaders(route.spoken, inbound.headers, {
    requestId: inbound.requestId,
    accept: '',
    length: undefined,
    credential: upstream.credential(route.spoken),
    propagate: deps.propagate
  })
  const url = upstream.origin.replace(/^http/, 'ws') + upstream.pathOf(route.upstreamPath) + inbound.target.query
  const { cancel } = inbound
  if (cancel.reason !== undefined) throw cancel.reason
  return new Promise((resolve, reject) => {
    // No subprotocol: the credential goes in its header, and many servers that speak this API select none.
    const socket = new WebSocket(url, {
      ...upstream.tls,
      headers,
      handshakeTimeout: upstream.connectTimeoutMs,
      maxPayload: maxEventBytes,
      perMessageDeflate: false,
      followRedirects: false
    })
    const settle = () => {
      forget()
      socket.removeAllListeners()
      socket.on('error', () => {})
    }
    const fail = (error: unknown) => {
      settle()
      socket.terminate()
      reject(error)
    }
    const forget = cancel.onCancel(fail)
    socket.once('open', () => {
      settle()
      // Nothing is read until there is somebody to take it.
      socket.pause()
      resolve(socket)
    })
    // What it says in place of an upgrade is about the gateway's own request: its status is for the log alone.
    socket.once('unexpected-response', (_request, response) => {
      fail(new Fault('upstream_error', { internal: `status ${response.statusCode} in place of an upgrade` }))
    })
    socket.once('error', (error) => fail(failureOf(error)))
  })
}

function failureOf(error: Error): Error {
  if (error.message === 'Opening handshake has timed out') return new Fault('upstream_timeout', { cause: error })
  const { syscall } = error as NodeJS.ErrnoException
  return syscall === 'connect' || syscall === 'getaddrinfo' ? new ConnectFailed(error) : error
}
