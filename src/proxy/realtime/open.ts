/**
 * The opening of a session of the Realtime API, once its request is permitted: its handshake, its connection to the
 * upstream, and only then the client's upgrade. Every refusal until then is an ordinary HTTP answer.
 */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { WebSocket, WebSocketServer } from 'ws'
import { Fault, invalid } from '../../base/errors.js'
import type { LetGo } from '../../base/places.js'
import { crossSiteFault } from '../../edge/same-site.js'
import type { Upgrade } from '../../edge/upgrade.js'
import { statusClass } from '../../observe/metrics.js'
import { ClientGone, type Exchange } from '../exchange.js'
import { type Propagate, upstreamHeaders } from '../headers.js'
import type { ChatProxy } from '../proxy.js'
import { tellAnswered } from '../upstream/answered.js'
import { candidates, type Sender, transportFault } from '../upstream/send.js'
import { ConnectFailed, type Upstream } from '../upstream/upstreams.js'
import { Peer } from './peer.js'

/** How long each side has for its half of the closing handshake, ms. */
const clientCloseMs = 2000
const upstreamCloseMs = 200

/** The subprotocol of the API; the one that carries the key is never selected. */
const subprotocol = 'realtime'

const keyPattern = /^[A-Za-z0-9+/]{22}==$/
/** A list of tokens (RFC 9110 section 5.6.2). */
const protocolsPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:[ \t]*,[ \t]*[!#$%&'*+\-.^_`|~0-9A-Za-z]+)*$/

/** Checks of an upgrade before its session is opened (RFC 6455 section 4.2.1), beside those of every request. */
export function handshakeFault(request: IncomingMessage): Fault | undefined {
  const { headers } = request
  if (!keyPattern.test(headers['sec-websocket-key'] ?? '')) {
    return invalid('sec-websocket-key', 'invalid_format', 'Sec-WebSocket-Key must be 16 bytes in base64.')
  }
  if (headers['sec-websocket-version'] !== '13') {
    return invalid('sec-websocket-version', 'unknown_value', 'Sec-WebSocket-Version must be 13.')
  }
  const protocols = headers['sec-websocket-protocol']
  if (protocols !== undefined && !protocolsPattern.test(protocols)) {
    return invalid('sec-websocket-protocol', 'invalid_format', 'Sec-WebSocket-Protocol must be a list of names.')
  }
  // No other site may call the API (no CORS); browsers do not enforce that for WebSockets, so it is checked here.
  return crossSiteFault(request, 'A WebSocket must come from this site')
}

/** The functions of the face that holds the client's socket. */
export interface Upgrading {
  raw: IncomingMessage
  upgrade: Upgrade
  /** The client's address, for the key's list. */
  address: string
  /** Headers of every reply. */
  headers(): OutgoingHttpHeaders
  /** Called when the session takes over the socket. */
  taken(): void
}

/** Opens a session that is permitted: the upstream's side, then the client's. */
export async function openSession(proxy: ChatProxy, exchange: Exchange, face: Upgrading): Promise<void> {
  const { sessions } = proxy
  const { route, inbound } = exchange
  if (sessions.isStopping) throw new Fault('overloaded', { headers: { 'retry-after': '1' } })
  const connected = await askUpstream(proxy, exchange)
  const server = await serverFor(route.bodyLimit)
  face.taken()
  server.once('headers', (lines: string[]) => {
    for (const [name, value] of Object.entries(face.headers())) lines.push(`${name}: ${String(value)}`)
  })
  const { socket, head } = face.upgrade
  let client: WebSocket | undefined
  server.handleUpgrade(face.raw, socket, head, (opened) => {
    client = opened
  })
  if (client === undefined) {
    // The client left while the upstream was asked.
    connected.socket.terminate()
    socket.destroy()
    return
  }
  const settings = connected.upstream
  sessions.run(
    { inbound, route, settings, address: face.address },
    {
      client: new Peer(client, { gone: () => new ClientGone(), closeMs: clientCloseMs }),
      upstream: new Peer(connected.socket, {
        gone: () => new Fault('upstream_error', { internal: 'the upstream has closed the session' }),
        closeMs: upstreamCloseMs
      })
    }
  )
}

async function askUpstream({ clock, metrics, sender, answered }: ChatProxy, exchange: Exchange): Promise<Connected> {
  const { route } = exchange
  const began = clock.monotonic()
  let status: number | undefined
  let failure: unknown
  let name = route.upstream
  try {
    const connected = await connect(sender, exchange)
    status = 101
    name = connected.upstream.name
    return connected
  } catch (error) {
    failure = error
    throw error
  } finally {
    tellAnswered(answered, exchange, name, { status, error: failure })
    metrics.upstreamDuration.of(route.id, statusClass(status ?? 502)).observe((clock.monotonic() - began) / 1000)
  }
}

/**
 * One server for each limit of an event's size. No extensions: a compressed event could be bounded only after inflating
 * it.
 */
async function serverFor(maxPayload: number): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws')
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload,
    handleProtocols: (offered) => offered.has(subprotocol) && subprotocol
  })
}

/** Bytes of one event of an upstream. */
const maxEventBytes = 16 * 1024 * 1024

interface Connected {
  socket: WebSocket
  upstream: Upstream
}

/**
 * Tries the upstream and, where no connection was made, its fallback.
 * @throws Fault `upstream_timeout`, `upstream_error` or `overloaded`; the reason of a cancel
 */
async function connect({ upstreams, propagate }: Sender, exchange: Exchange): Promise<Connected> {
  const first = upstreams.get(exchange.route.upstream)
  if (first === undefined) throw new Fault('upstream_error', { internal: 'unknown upstream' })
  let failure: unknown
  for (const upstream of candidates(upstreams, first)) {
    let letGo: LetGo | undefined
    try {
      letGo = await upstream.places.take(exchange.inbound.caller.lineage, exchange.inbound.cancel)
      const socket = await dial(upstream, exchange, propagate)
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

async function dial(
  upstream: Upstream,
  { route, inbound }: Exchange,
  propagate: Propagate | undefined
): Promise<WebSocket> {
  const { WebSocket } = await import('ws')
  const {
    accept: _,
    'accept-encoding': __,
    ...headers
  } = upstreamHeaders(route.spoken, inbound.headers, {
    requestId: inbound.requestId,
    accept: '',
    body: undefined,
    credential: upstream.credential(route.spoken),
    propagate
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
      // Reading starts when the session can take events.
      socket.pause()
      resolve(socket)
    })
    // An answer instead of an upgrade concerns the gateway's own request: only its status is kept, for the log.
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
