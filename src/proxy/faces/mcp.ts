/**
 * The Fastify edge of the MCP servers: one exact path each, with the three methods of Streamable HTTP. Admission, the raw
 * target and the framing are the business of `edge/edge.ts`, which every route shares.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { invalid } from '../../base/errors.js'
import { mcp as dialect } from '../../dialects/mcp.js'
import { originFault } from '../../edge/same-site.js'
import { ClientGone, type Reply } from '../exchange.js'
import type { Call } from '../mcp/calls.js'
import type { McpProxy } from '../mcp/mcp.js'
import type { McpServer } from '../mcp/server.js'
import type { ChatProxy } from '../proxy.js'
import { checkQuery } from '../request/routes.js'
import { describeMcp } from './described-mcp.js'
import { answerInDialect, inboundOf, sendReply, takeBytes } from './fastify.js'

const methods = ['POST', 'GET', 'DELETE'] as const
type Method = (typeof methods)[number]

/** Cost of a call against the limit of its key: listening and ending are free. */
const costs: Readonly<Record<Method, number>> = { POST: 1, GET: 0, DELETE: 0 }

export async function registerMcp(app: FastifyInstance, mcp: McpProxy, proxy: Pick<ChatProxy, 'log'>): Promise<void> {
  for (const [index, server] of mcp.servers.entries()) {
    await app.register(async (scope) => {
      answerInDialect(scope, proxy, () => dialect, server.route.bodyLimit)
      takeBytes(scope, server.route.bodyLimit)
      for (const method of methods) scope.route(routeOf(mcp, server, method, index === 0))
    })
  }
}

function routeOf(mcp: McpProxy, server: McpServer, method: Method, isFirst: boolean): RouteOptions {
  return {
    method,
    url: server.route.path,
    exposeHeadRoute: false,
    config: {
      access: { posture: 'guarded', scope: 'mcp:call', cost: costs[method] },
      reads: server.entry.read,
      // One entry of the document describes all servers, since their paths differ in the name only.
      described: isFirst ? describeMcp(method) : { hide: true },
      describedPath: '/mcp/{server}'
    },
    handler: (request, reply) => handle(mcp, server, method, request, reply)
  }
}

async function handle(
  mcp: McpProxy,
  server: McpServer,
  method: Method,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<FastifyReply> {
  const { raw, body } = request
  // Refuses pages of other sites, and pages that rebound their name to this address.
  const foreign = originFault(raw, 'A request to an MCP server must come from this site, or from no page')
  if (foreign !== undefined) throw foreign
  checkAccept(method, raw.headers.accept)
  const query = checkQuery(dialect, raw.url ?? '')
  const inbound = inboundOf(request, reply, server.entry, { params: {}, query })
  const call: Call = { inbound, server, address: request.sluicegate.address }
  try {
    if (method === 'GET') return sendReply(reply, await mcp.listen(call))
    if (method === 'DELETE') return sendReply(reply, await mcp.end(call))
    const { reply: answer, exchange } = await mcp.post(call, (body as Buffer | undefined) ?? Buffer.alloc(0))
    request.sluicegate.decision = exchange?.verdict?.decision
    return sendReply(reply, answer satisfies Reply)
  } catch (error) {
    if (inbound.cancel.reason instanceof ClientGone) return sendReply(reply, undefined)
    throw error
  }
}

const json = /(?:^|,)\s*(?:application\/json|application\/\*|\*\/\*)\s*(?:;|,|$)/i
const events = /(?:^|,)\s*(?:text\/event-stream|text\/\*|\*\/\*)\s*(?:;|,|$)/i

/** A client must take both forms of an answer (specification 2025-03-26, "Sending Messages to the Server"). */
function checkAccept(method: Method, accept = '*/*'): void {
  const taken = accept.slice(0, 1024)
  if (method === 'DELETE') return
  if (method === 'GET' ? events.test(taken) : json.test(taken) && events.test(taken)) return
  const wanted = method === 'GET' ? 'text/event-stream' : 'application/json and text/event-stream'
  throw invalid('accept', 'unknown_value', `Accept must name ${wanted}.`)
}
