/**
 * The Fastify edge of the proxy. Each path is its own @fastify/http-proxy registration of exactly one route and one
 * method, in a scope of its own: no wildcard, no pass-through of payloads, and our forwarder instead of its streams.
 * Admission, the raw target and the framing are the business of `edge/edge.ts`, which every route shares.
 */

import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import httpProxy from '@fastify/http-proxy'
import type { FastifyError, FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Fault, invalid } from '../../base/errors.js'
import type { Dialect, Target } from '../../dialects/dialect.js'
import { readOpening } from '../../dialects/openai-realtime/request.js'
import { type PathParameters, routerPath } from '../../dialects/path.js'
import type { BodyKind } from '../../edge/body.js'
import { callerOf } from '../../edge/facts.js'
import { toFault } from '../../edge/faults.js'
import { mountOf, withoutMount } from '../../edge/mount.js'
import { answerUpgrade, asksForWebSocket, offerUpgrade, takeUpgrade } from '../../edge/upgrade.js'
import { describeError } from '../../observe/log.js'
import { ClientGone, cancelOnLeave, type Inbound, type Reply } from '../exchange.js'
import { addVerdictHeaders } from '../headers.js'
import type { ChatProxy } from '../proxy.js'
import { handshakeFault, openSession } from '../realtime/open.js'
import { faultReply, writeFrames } from '../reply.js'
import { checkQuery, chooseRoute, type PathEntry } from '../request/routes.js'
import { describeChat, describePass } from './described.js'
import { passAt, passThrough } from './other-paths.js'

/** Registers every path of the table, and the pass routes of the dialects in it. */
export async function registerProxy(app: FastifyInstance, proxy: ChatProxy): Promise<void> {
  const sockets = new Set<string>()
  for (const entry of proxy.table.entries) {
    const isSocket = entry.dialect.isSocket === true
    if (isSocket) sockets.add(mountOf(app) + entry.path)
    const register = isSocket ? registerRealtime : registerPath
    await app.register(named(entry.path, async (scope) => register(scope, proxy, entry)))
  }
  if (sockets.size > 0) upgradeOnHost(app, sockets)
  const refused = new Map<string, Dialect>()
  for (const { dialect } of proxy.table.entries) {
    for (const path of Object.keys(dialect.refusedPaths ?? {})) refused.set(path, dialect)
  }
  for (const [path, dialect] of refused)
    await app.register(named(path, async (scope) => registerRefusal(scope, proxy, dialect, path)))
  const passes = new Map<string, [Dialect, ...Dialect[]]>()
  for (const { dialect } of proxy.table.entries) {
    for (const { path } of dialect.passPaths) {
      const known = passes.get(path)
      if (known === undefined) passes.set(path, [dialect])
      else known.push(dialect)
    }
  }
  for (const [path, dialects] of passes)
    await app.register(named(path, async (scope) => registerPass(scope, proxy, dialects, path)))
}

/**
 * Names a plugin for Fastify's messages. For a plugin without a name Fastify searches all loaded modules, which took a
 * tenth of the start.
 */
export function named(name: string, plugin: FastifyPluginAsync): FastifyPluginAsync {
  return Object.assign(plugin, { [Symbol.for('fastify.display-name')]: name })
}

async function registerPath(scope: FastifyInstance, proxy: ChatProxy, entry: PathEntry): Promise<void> {
  const { path, dialect, bodyLimit } = entry
  answerInDialect(scope, proxy, () => dialect, bodyLimit)
  const takes = dialect.form === undefined ? 'json' : 'form'
  takeBytes(scope, bodyLimit, takes)
  const access = {
    posture: 'guarded' as const,
    scope: 'safety:evaluate' as const,
    cost: 1,
    keyHeaders: dialect.keyHeaders
  }
  const first = entry.candidates[0]!
  await scope.register(httpProxy, {
    prefix: routerPath(path, dialect),
    routes: ['/'],
    httpMethods: ['POST'],
    proxyPayloads: false,
    disableRequestLogging: true,
    config: { access, takes, reads: entry.read, described: describeChat(entry) },
    // Required by the registration; our handler chooses the upstream by the model.
    upstream: proxy.upstreams.get(first.upstream)!.origin,
    rewritePrefix: first.upstreamPath.replaceAll(/[{}]/g, ''),
    // Answered before the registration's own handler, which would work out a destination for its own forwarder (four URLs
    // a request, a twentieth of the proxy's time, measured). `done` is never called, so nothing goes on to that handler.
    preHandler(request, reply, _done) {
      handleChat(proxy, entry, scope, request, reply).catch((error: unknown) => reply.send(error))
    },
    handler() {
      throw new Fault('internal_error', { internal: 'a chat went past the guard' })
    }
  })
}

function handleChat(
  proxy: ChatProxy,
  entry: PathEntry,
  scope: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<void> {
  const { raw, body } = request
  const query = checkQuery(entry.dialect, raw.url ?? '')
  const inbound = inboundOf(request, reply, entry, { params: paramsOf(entry, scope, raw), query })
  return proxy.funnel.run(inbound, (body as Buffer | undefined) ?? noBytes, proxy.transport).then((outcome) => {
    request.sluicegate.decision = outcome?.exchange?.verdict?.decision
    sendReply(reply, outcome?.reply)
  })
}

const noBytes = Buffer.alloc(0)
const noParameters: PathParameters = {}

/**
 * The parameters of the raw target, since the router has decoded its own. The path may have a host application's
 * prefix.
 * @throws Fault `not_found` for a non-canonical spelling of a parameter
 */
function paramsOf({ parameters, read }: PathEntry, scope: FastifyInstance, raw: IncomingMessage): PathParameters {
  if (parameters.length === 0) return noParameters
  const params = read(withoutMount(scope, raw.url ?? '').split('?', 1)[0]!)
  if (params === undefined) throw new Fault('not_found')
  return params
}

/** What this face knows of a request that is admitted. */
export function inboundOf(request: FastifyRequest, reply: FastifyReply, entry: PathEntry, target: Target): Inbound {
  const { id: requestId, started } = request.sluicegate
  return {
    entry,
    headers: request.raw.headers,
    target,
    caller: callerOf(request),
    requestId,
    started,
    cancel: cancelOnLeave(reply.raw)
  }
}

/**
 * The route of the Realtime API: admitted like every other request, judged by what its target holds, connected to the
 * upstream, and only then upgraded.
 */
function registerRealtime(scope: FastifyInstance, proxy: ChatProxy, entry: PathEntry): void {
  const { path, dialect } = entry
  answerInDialect(scope, proxy, () => dialect, 0)
  const { keyHeaders } = dialect
  scope.route({
    method: 'GET',
    url: routerPath(path, dialect),
    exposeHeadRoute: false,
    config: {
      access: { posture: 'guarded', scope: 'safety:evaluate', cost: 1, keyHeaders },
      reads: entry.read,
      described: describeChat(entry)
    },
    handler: (request, reply) => handleUpgrade(proxy, entry, request, reply)
  })
}

async function handleUpgrade(
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
  const target = { params: noParameters, query: checkQuery(entry.dialect, raw.url ?? '') }
  const inbound = inboundOf(request, reply, entry, target)
  try {
    const chat = readOpening(target)
    const { requests } = proxy.stages
    const exchange = requests.open(inbound, chooseRoute(entry, chat.model), chat, { body: {} })
    const verdict = await requests.judge(exchange)
    request.sluicegate.decision = exchange.verdict?.decision
    if (!('bytes' in verdict)) {
      addVerdictHeaders(verdict.headers, exchange, exchange.verdict)
      return sendReply(reply, verdict)
    }
    request.sluicegate.upstream = verdict.upstream
    await openSession(proxy, exchange, {
      raw,
      upgrade,
      address: request.sluicegate.address,
      headers: () => reply.getHeaders() as OutgoingHttpHeaders,
      taken: () => void reply.hijack()
    })
    return reply
  } catch (error) {
    if (inbound.cancel.reason instanceof ClientGone) return sendReply(reply, undefined)
    throw error
  }
}

/** Registers a path that is refused with the reason, instead of a plain 404. */
function registerRefusal(scope: FastifyInstance, proxy: ChatProxy, dialect: Dialect, url: string): void {
  answerInDialect(scope, proxy, () => dialect, 0)
  scope.route({
    method: ['GET', 'POST'],
    url,
    exposeHeadRoute: false,
    config: { access: { posture: 'public' } },
    schema: { hide: true },
    onRequest: async () => {
      throw new Fault('not_found', { message: dialect.refusedPaths![url]! })
    },
    handler() {
      throw new Fault('not_found')
    }
  })
}

function registerPass(
  scope: FastifyInstance,
  proxy: ChatProxy,
  dialects: readonly [Dialect, ...Dialect[]],
  url: string
): void {
  // Under a host application's prefix the table knows the path without it, and so does the upstream.
  const targetOf = (raw: IncomingMessage) => withoutMount(scope, raw.url ?? '')
  answerInDialect(
    scope,
    proxy,
    (raw) => passAt(proxy.table, targetOf(raw).split('?', 1)[0]!, raw.headers)?.entry.dialect ?? dialects[0]!,
    0
  )
  const access = {
    posture: 'pass' as const,
    scope: 'safety:evaluate' as const,
    cost: 0,
    keyHeaders: [...new Set(dialects.flatMap(({ keyHeaders }) => keyHeaders))]
  }
  scope.route({
    method: 'GET',
    url,
    exposeHeadRoute: false,
    config: { access, described: describePass(url, dialects) },
    handler: async (request, reply) => {
      const target = targetOf(request.raw)
      const cancel = cancelOnLeave(reply.raw)
      try {
        const { headers } = request.raw
        const { lineage } = callerOf(request)
        const facts = request.sluicegate
        const asking = (upstream: string) => {
          facts.upstream = upstream
        }
        const asked = { target, headers, requestId: facts.id, lineage, cancel, asking }
        return sendReply(reply, await passThrough(proxy, asked))
      } catch (error) {
        if (cancel.reason instanceof ClientGone) return sendReply(reply, undefined)
        throw error
      }
    }
  })
}

/** The bytes as they came: decoding, reading and judging are one funnel for all edges. */
export function takeBytes(scope: FastifyInstance, bodyLimit: number, kind: BodyKind = 'json'): void {
  scope.removeAllContentTypeParsers()
  const type = kind === 'json' ? 'application/json' : 'multipart/form-data'
  scope.addContentTypeParser(type, { parseAs: 'buffer', bodyLimit }, (_request, bytes, done) => done(null, bytes))
}

/** @param reply undefined: the client has left */
export function sendReply(to: FastifyReply, reply: Reply | undefined): FastifyReply {
  if (reply === undefined || reply.rest !== undefined) {
    to.hijack()
    if (reply === undefined) to.raw.destroy()
    else void writeFrames(to.raw, reply, { ...to.getHeaders(), ...reply.headers } as OutgoingHttpHeaders)
    return to
  }
  return to.code(reply.status).headers(reply.headers).send(reply.body)
}

/** Writes faults before the funnel (admission, content type, size) in the shape that the path's clients read. */
export function answerInDialect(
  scope: FastifyInstance,
  { log }: Pick<ChatProxy, 'log'>,
  dialectOf: (request: IncomingMessage) => Dialect,
  bodyLimit: number
): void {
  scope.setErrorHandler((error, request, reply) => {
    const fault = toFault(error as FastifyError, bodyLimit)
    const requestId = request.sluicegate.id
    if (fault.status >= 500) {
      const { upstream } = request.sluicegate
      log.error({ request_id: requestId, upstream, err: describeError(fault) }, fault.code)
    }
    return sendReply(reply, faultReply(dialectOf(request.raw), fault, requestId))
  })
}

/**
 * Handles upgrades on the server of a host application. Only requests for our own paths are handled; all others behave
 * as without the gateway.
 * @param paths exact, with the prefix of the scope that they are registered in
 */
function upgradeOnHost(scope: FastifyInstance, paths: ReadonlySet<string>): void {
  const { server } = scope
  const answer = (request: IncomingMessage, socket: Duplex) =>
    answerUpgrade(request, socket, (raw, response) => scope.routing(raw, response))
  // First, so that the socket is known when the listener of another plugin routes the request at once.
  server.prependListener('upgrade', (request, socket, head) => {
    const isOurs = asksForWebSocket(request) && paths.has((request.url ?? '').split('?', 1)[0]!)
    if (isOurs) {
      offerUpgrade(request, socket, head)
      // If another plugin routes all upgrades, it has done so by now; otherwise the request is routed here.
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
 * Replays a request without its `Upgrade` header, from the first byte: with a listener for upgrades, Node stops reading
 * after the headers (`h2c`, which some clients send with every first request).
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
