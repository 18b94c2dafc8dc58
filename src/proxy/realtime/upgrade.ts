/**
 * The route of the Realtime API: admitted like every other request, judged by what its target holds, connected to the
 * upstream, and only then upgraded. Whatever is refused until then is refused as an ordinary answer.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { WebSocket, WebSocketServer } from 'ws'
import { Fault, invalid } from '../../base/errors.js'
import { readOpening } from '../../dialects/openai-realtime/request.js'
import { routerPath } from '../../dialects/path.js'
import { callerOf } from '../../edge/facts.js'
import { takeUpgrade, type Upgrade } from '../../edge/upgrade.js'
import { statusClass } from '../../observe/metrics.js'
import { ClientGone, type Exchange } from '../exchange.js'
import { cancelOnLeave } from '../frames.js'
import { type ChatProxy, checkQuery } from '../proxy.js'
import { addVerdictHeaders } from '../reply.js'
import { judgeRequest, openExchange } from '../request.js'
import { chooseRoute, type PathEntry } from '../routes.js'
import { answerInDialect, sendReply } from '../scope.js'
import { type Connected, connect } from './connect.js'
import { handshakeFault, subprotocol } from './handshake.js'
import { Peer } from './peer.js'
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
