/**
 * The Fastify edge of the proxy. Each path is its own @fastify/http-proxy registration of exactly one route and one
 * method, in a scope of its own: no wildcard, no pass-through of payloads, and our forwarder instead of its streams.
 * Admission, the raw target and the framing are the business of `edge/edge.ts`, which every route shares.
 */
import type { IncomingMessage } from 'node:http'
import httpProxy from '@fastify/http-proxy'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../base/errors.js'
import type { Dialect } from '../dialects/dialect.js'
import { routerPath } from '../dialects/path.js'
import { callerOf } from '../edge/facts.js'
import { mountOf, withoutMount } from '../edge/mount.js'
import { ClientGone } from './exchange.js'
import { cancelOnLeave } from './frames.js'
import { guard } from './guard.js'
import { passAt, passThrough } from './pass.js'
import { type ChatProxy, checkQuery } from './proxy.js'
import { upgradeOnHost } from './realtime/host.js'
import { registerRealtime } from './realtime/upgrade.js'
import type { PathEntry } from './routes.js'
import { answerInDialect, sendReply, takeBytes } from './scope.js'

/** Registers every path of the table, and the pass routes of the dialects in it. */
export async function registerProxy(app: FastifyInstance, proxy: ChatProxy): Promise<void> {
  const sockets = new Set<string>()
  for (const entry of proxy.table.entries) {
    const isSocket = entry.dialect.isSocket === true
    if (isSocket) sockets.add(mountOf(app) + entry.path)
    const register = isSocket ? registerRealtime : registerPath
    await app.register(async (scope) => register(scope, proxy, entry))
  }
  if (sockets.size > 0) upgradeOnHost(app, sockets)
  const refused = new Map<string, Dialect>()
  for (const { dialect } of proxy.table.entries) {
    for (const path of Object.keys(dialect.refusedPaths ?? {})) refused.set(path, dialect)
  }
  for (const [path, dialect] of refused)
    await app.register(async (scope) => registerRefusal(scope, proxy, dialect, path))
  const passes = new Map<string, Dialect[]>()
  for (const { dialect } of proxy.table.entries) {
    for (const { path } of dialect.passPaths) passes.set(path, [...(passes.get(path) ?? []), dialect])
  }
  for (const [path, dialects] of passes) await app.register(async (scope) => registerPass(scope, proxy, dialects, path))
}

async function registerPath(scope: FastifyInstance, proxy: ChatProxy, entry: PathEntry): Promise<void> {
  const { path, dialect, bodyLimit } = entry
  answerInDialect(scope, proxy, () => dialect, bodyLimit)
  takeBytes(scope, bodyLimit)
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
    config: { access, reads: entry.read },
    // What the registration itself would forward to; the handler chooses by the model.
    upstream: proxy.upstreams.get(first.upstream)!.origin,
    rewritePrefix: first.upstreamPath.replaceAll(/[{}]/g, ''),
    // Answered before the registration's own handler, which would work out a destination for its own forwarder (four URLs
    // a request, a twentieth of the proxy's time, measured). `done` is never called, so nothing goes on to that handler.
    preHandler(request, reply, _done) {
      handleChat(proxy, entry, request, reply).catch((error: unknown) => reply.send(error))
    },
    handler() {
      throw new Fault('internal_error', { internal: 'a chat went past the guard' })
    }
  })
}

async function handleChat(
  proxy: ChatProxy,
  entry: PathEntry,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<void> {
  const { id, started } = request.sluicegate
  const raw = request.raw.url ?? ''
  // The path may lie under a host application's prefix: its parameters are taken as the router, whose patterns are the
  // dialect's own, has read them.
  const given = request.params as Readonly<Record<string, string>>
  const params = Object.fromEntries(entry.parameters.map((name) => [name, given[name]!]))
  const outcome = await guard(
    proxy.deps,
    {
      entry,
      headers: request.raw.headers,
      target: { params, query: checkQuery(entry.dialect, raw) },
      caller: callerOf(request),
      requestId: id,
      started,
      cancel: cancelOnLeave(reply.raw)
    },
    (request.body as Buffer | undefined) ?? Buffer.alloc(0),
    proxy.transport
  )
  request.sluicegate.decision = outcome?.exchange?.verdict?.decision
  sendReply(reply, outcome?.reply)
}

/** Nothing is at this address either, but those who look for it are told why. */
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

function registerPass(scope: FastifyInstance, proxy: ChatProxy, dialects: readonly Dialect[], url: string): void {
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
    config: { access },
    handler: async (request, reply) => {
      const target = targetOf(request.raw)
      const cancel = cancelOnLeave(reply.raw)
      try {
        const { headers } = request.raw
        const { lineage } = callerOf(request)
        const asked = { target, headers, requestId: request.sluicegate.id, lineage, cancel }
        return sendReply(reply, await passThrough(proxy, asked))
      } catch (error) {
        if (cancel.reason instanceof ClientGone) return sendReply(reply, undefined)
        throw error
      }
    }
  })
}
