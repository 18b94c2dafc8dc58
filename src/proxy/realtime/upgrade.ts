/**
 * The route of the Realtime API: admitted like every other request, judged by what its target holds, connected to the
 * upstream, and only then upgraded. Whatever is refused until then is refused as an ordinary answer.
 */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { WebSocket, WebSocketServer } from 'ws'
import { readOpening } from '../../dialects/openai-realtime/request.js'
import { routerPath } from '../../dialects/path.js'
import { Fault, invalid } from '../../errors.js'
import { callerOf } from '../../http/facts.js'
import { crossSiteFault } from '../../http/same-site.js'
import { answerUpgrade, asksForWebSocket, offerUpgrade, takeUpgrade, type Upgrade } from '../../http/upgrade.js'
import { statusClass } from '../../observe/metrics.js'
import { ClientGone, type Exchange } from '../exchange.js'
import { answerInDialect, sendReply } from '../faces/fastify.js'
import { type ChatProxy, checkQuery } from '../proxy.js'
import { addVerdictHeaders, cancelOnLeave } from '../reply.js'
import { judgeRequest, openExchange } from '../request/request.js'
import { chooseRoute, type PathEntry } from '../request/routes.js'
import { type Connected, connect, Peer } from './peer.js'
import { Session } from './session.js'

/** How long each side has for its half of the closing handshake, ms. */
const clientCloseMs = 2000
const upstreamCloseMs = 200

export function registerRealtime(scope: FastifyInstance, proxy: ChatProxy, entry: PathEntry): void {
  const { path, dialect } = entry
  answerInDialect(scope, proxy, () => dialect, 0)
  const { keyHeaders } = dialect
  scope.route({
    method: 'GET',
    url: routerPath(path, dialect),
    exposeHeadRoute: false,
    config: { access: { posture: 'guarded', scope: 'safety:evaluate', cost: 1, keyHeaders }, reads: entry.read },
    schema: {
      summary: 'A session of OpenAI’s Realtime API over a WebSocket: events are evaluated in both directions',
      tags: ['chat']
    },
    handler: (request, reply) => open(proxy, entry, request, reply)
  })
}

async function open(
  proxy: ChatProxy,
  entry: PathEntry,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<FastifyReply> {
  const { raw } = request
  const upgrade = takeUpgrade(raw)
  if (upgrade === undefined) {
    throw invalid('upgrade', 'missing', 'This path is opened as a WebSocket: send Upgrade: websocket.')
  }
  const refused = handshakeFault(raw)
  if (refused !== undefined) throw refused
  const cancel = cancelOnLeave(reply.raw)
  const inbound = {
    entry,
    headers: raw.headers,
    target: { params: {}, query: checkQuery(entry.dialect, raw.url ?? '') },
    caller: callerOf(request),
    requestId: request.sluicegate.id,
    started: request.sluicegate.started,
    cancel
  }
  try {
    const chat = readOpening(inbound.target)
    const exchange = openExchange(proxy.deps, inbound, chooseRoute(entry, chat.model), {}, chat)
    const verdict = await judgeRequest(exchange)
    request.sluicegate.decision = exchange.verdict?.decision
    if (!('bytes' in verdict)) {
      addVerdictHeaders(verdict.headers, exchange)
      return sendReply(reply, verdict)
    }
    await grant(proxy, exchange, upgrade, request, reply)
    return reply
  } catch (error) {
    if (cancel.reason instanceof ClientGone) return sendReply(reply, undefined)
    throw error
  }
}

async function grant(
  proxy: ChatProxy,
  exchange: Exchange,
  { socket, head }: Upgrade,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<void> {
  const { deps } = proxy
  const { route, inbound } = exchange
  if (proxy.sessions.isStopping) throw new Fault('overloaded', { headers: { 'retry-after': '1' } })
  const connected = await askUpstream(proxy, exchange)
  const server = await serverFor(route.bodyLimit)
  reply.hijack()
  server.once('headers', (lines: string[]) => {
    for (const [name, value] of Object.entries(reply.getHeaders())) lines.push(`${name}: ${String(value)}`)
  })
  let client: WebSocket | undefined
  server.handleUpgrade(request.raw, socket, head, (opened) => {
    client = opened
  })
  if (client === undefined) {
    // It left while the upstream was asked.
    connected.socket.terminate()
    socket.destroy()
    return
  }
  deps.metrics.requests.of(route.id, statusClass(101)).inc()
  deps.metrics.realtimeSessions.inc()
  const settings = connected.upstream
  const session = new Session(
    { deps, inbound, route, settings, turns: proxy.sessions.turns, address: request.sluicegate.address },
    new Peer(client, { gone: () => new ClientGone(), closeMs: clientCloseMs }),
    new Peer(connected.socket, {
      gone: () => new Fault('upstream_error', { internal: 'the upstream has closed the session' }),
      closeMs: upstreamCloseMs
    })
  )
  proxy.sessions.add(session)
  session
    .run()
    .catch((error: unknown) => session.fail(error))
    .finally(() => {
      proxy.sessions.delete(session)
      deps.metrics.realtimeSessions.dec()
      deps.tracing?.end(inbound.requestId, 101)
    })
}

async function askUpstream({ deps, upstreams }: ChatProxy, exchange: Exchange): Promise<Connected> {
  const { route } = exchange
  const began = deps.clock.monotonic()
  // A failure without a status of its own counts as the gateway's 502.
  let status = 502
  let name = route.upstream
  try {
    const connected = await connect(upstreams, exchange)
    status = 101
    name = connected.upstream.name
    return connected
  } finally {
    exchange.upstreamMs = deps.clock.monotonic() - began
    if (exchange.inbound.cancel.reason === undefined) {
      deps.metrics.upstreamRequests.of(name, statusClass(status)).inc()
    }
    deps.metrics.upstreamDuration.of(route.id, statusClass(status)).observe(exchange.upstreamMs / 1000)
  }
}

/** By the size of an event. What compresses would have to be undone before it can be bounded: no extension is spoken. */
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

/** What is asked of an upgrade before anything is opened for it (RFC 6455 section 4.2.1), beyond what every request is asked. */

/** The subprotocol of the API; that which carries the key is never selected. */
export const subprotocol = 'realtime'

const keyPattern = /^[A-Za-z0-9+/]{22}==$/
/** A list of tokens (RFC 9110 section 5.6.2). */
const protocolsPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:[ \t]*,[ \t]*[!#$%&'*+\-.^_`|~0-9A-Za-z]+)*$/

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
  // Nobody is given leave to call the API from another site (no CORS), which WebSockets do not ask for by themselves.
  return crossSiteFault(request, 'A WebSocket must come from this site')
}

/**
 * Upgrades on a server that is not ours: that of an application in which the gateway is a plugin. Only what is asked of our
 * own paths is ours; anything else stays as it would be without us.
 */

/** @param paths exact, with the prefix of the scope that they are registered in */
export function upgradeOnHost(scope: FastifyInstance, paths: ReadonlySet<string>): void {
  const { server } = scope
  const answer = (request: IncomingMessage, socket: Duplex) =>
    answerUpgrade(request, socket, (raw, response) => scope.routing(raw, response))
  // First, so that the socket is known when the listener of another plugin routes the request at once.
  server.prependListener('upgrade', (request, socket, head) => {
    const isOurs = asksForWebSocket(request) && paths.has((request.url ?? '').split('?', 1)[0]!)
    if (isOurs) {
      offerUpgrade(request, socket, head)
      // Another plugin may route all upgrades of the application; if none has, nobody will.
      process.nextTick(() => {
        if (!isRouted(socket)) answer(request, socket)
      })
    } else if (server.listenerCount('upgrade') === 1) {
      if (asksForWebSocket(request)) answer(request, socket)
      else again(scope, request, socket, head)
    }
  })
}

/** Whether a response has been given the socket already. */
function isRouted(socket: Duplex & { _httpMessage?: unknown }): boolean {
  return socket._httpMessage !== undefined && socket._httpMessage !== null
}

/**
 * A request that Node stopped reading after its headers because somebody listens for upgrades (`h2c`, which some clients
 * ask for with every first request): read once more from its first byte on, without asking.
 */
function again({ server }: FastifyInstance, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`]
  const { rawHeaders } = request
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket)
}
