/**
 * Envoy's external authorization over HTTP, for the paths of the route table: Envoy puts `path_prefix` before the
 * target of the client's request and sends its body along; a 200 lets the request proceed to Envoy's own upstream, any
 * other reply goes to the client unchanged. Requests are judged exactly as on the route itself, and only judged: a
 * request that needs another body or upstream is refused. A form proceeds with its client's framing, so only framing
 * that every parser reads alike is permitted. Answers are not seen here. Reference: envoyproxy.io, HTTP filters,
 * External Authorization.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { JsonObject } from '../../base/chat.js'
import { Fault } from '../../base/errors.js'
import { boundaryOf, isFramedAlike } from '../../dialects/form.js'
import { routerPath } from '../../dialects/path.js'
import { payloadTooLarge } from '../../edge/body.js'
import type { Exchange, Forward, Reply } from '../exchange.js'
import { addVerdictHeaders } from '../headers.js'
import type { ChatProxy } from '../proxy.js'
import { checkQuery, type PathEntry } from '../request/routes.js'
import { extAuthzDescribed } from './described.js'
import { answerInDialect, inboundOf, named, sendReply, takeBytes } from './fastify.js'

/** Envoy's `path_prefix`. */
export const extAuthzPrefix = '/guards/ext-authz'

export async function registerExtAuthz(app: FastifyInstance, proxy: ChatProxy): Promise<void> {
  // Realtime routes are excluded: Envoy does not send the events of an open session here.
  const entries = proxy.table.entries.filter(({ dialect }) => dialect.isSocket !== true)
  for (const [i, entry] of entries.entries()) {
    await app.register(named(entry.path, async (scope) => registerPath(scope, proxy, refusing(entry), i === 0)))
  }
}

/** Refuses with an error: a refusal as a turn of the conversation would be a 200, which lets the request proceed. */
function refusing(entry: PathEntry): PathEntry {
  return { ...entry, candidates: entry.candidates.map((route) => ({ ...route, respond: 'error' })) }
}

function registerPath(scope: FastifyInstance, proxy: ChatProxy, entry: PathEntry, isFirst: boolean): void {
  const { path, dialect, bodyLimit } = entry
  answerInDialect(scope, proxy, () => dialect, bodyLimit)
  const takes = dialect.form === undefined ? 'json' : 'form'
  takeBytes(scope, bodyLimit, takes)
  const { keyHeaders } = dialect
  scope.route({
    method: 'POST',
    url: extAuthzPrefix + routerPath(path, dialect),
    config: {
      access: { posture: 'key', scope: 'safety:evaluate', cost: 1, keyHeaders },
      takes,
      reads: (path) => (path.startsWith(extAuthzPrefix) ? entry.read(path.slice(extAuthzPrefix.length)) : undefined),
      // All paths are asked about in the same way: one entry of the document stands for them.
      described: isFirst ? extAuthzDescribed : { hide: true },
      describedPath: `${extAuthzPrefix}/{target}`
    },
    handler: async (request, reply) => sendReply(reply, await authorize(proxy, entry, request, reply))
  })
}

async function authorize(
  { stages: { requests } }: ChatProxy,
  entry: PathEntry,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<Reply> {
  const { headers, url = '' } = request.raw
  // Envoy cut the body off for this check, but forwards all of it.
  if (headers['x-envoy-auth-partial-body'] === 'true') throw payloadTooLarge(entry.bodyLimit)
  const target = url.slice(url.indexOf(extAuthzPrefix) + extAuthzPrefix.length)
  const params = entry.read(target.split('?', 1)[0]!)
  if (params === undefined) throw new Fault('not_found')
  const inbound = inboundOf(request, reply, entry, { params, query: checkQuery(entry.dialect, target) })
  const bytes = (request.body as Buffer | undefined) ?? Buffer.alloc(0)
  const exchange = await requests.read(inbound, bytes)
  if (entry.dialect.form !== undefined) checkFraming(bytes, headers['content-type'], exchange.body)
  const verdict = await requests.judge(exchange)
  request.sluicegate.decision = exchange.verdict?.decision
  const answer = 'bytes' in verdict ? pass(exchange, verdict) : verdict
  addVerdictHeaders(answer.headers, exchange, exchange.verdict)
  return answer
}

/** @throws Fault `unscannable_content` where an upstream could parse another form from the client's bytes */
function checkFraming(bytes: Buffer, type: string | undefined, body: JsonObject): void {
  const boundary = boundaryOf(type ?? '')
  if (boundary !== undefined && isFramedAlike(bytes, boundary, body)) return
  const message =
    'This form would have to be rewritten, which external authorization cannot do: uncoded, each part needs Content-Disposition, a file a Content-Type behind it, and the boundary may stand nowhere else.'
  throw new Fault('unscannable_content', { message, fields: { details: { pointer: '' } } })
}

function pass({ route, redacted }: Exchange, { upstream }: Forward): Reply {
  if (redacted > 0 || upstream !== route.upstream) {
    const message = 'This request would have to be changed or sent elsewhere, which external authorization cannot do.'
    throw new Fault('unscannable_content', { message, fields: { details: { pointer: '' } } })
  }
  return { status: 200, headers: {}, body: '' }
}
