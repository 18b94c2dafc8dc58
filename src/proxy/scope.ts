/** What the Fastify scopes of the proxy share: bodies as bytes, replies as the funnel gives them, faults in the path's dialect. */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import type { Dialect } from '../dialects/dialect.js'
import { toFault } from '../edge/faults.js'
import { describeError } from '../observe/log.js'
import type { Reply } from './exchange.js'
import { writeFrames } from './frames.js'
import type { ChatProxy } from './proxy.js'
import { faultReply } from './reply.js'

/** The bytes as they came: decoding, reading and judging are one funnel for all edges. */
export function takeBytes(scope: FastifyInstance, bodyLimit: number): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit }, (_request, bytes, done) =>
    done(null, bytes)
  )
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

/** Faults before the funnel (admission, content type, size) in the shape that the path's clients read. */
export function answerInDialect(
  scope: FastifyInstance,
  { deps }: ChatProxy,
  dialectOf: (request: IncomingMessage) => Dialect,
  bodyLimit: number
): void {
  scope.setErrorHandler((error, request, reply) => {
    const fault = toFault(error as FastifyError, bodyLimit)
    const requestId = request.sluicegate.id
    if (fault.status >= 500) {
      deps.log.error({ request_id: requestId, err: describeError(fault) }, fault.code)
    }
    return sendReply(reply, faultReply(dialectOf(request.raw), fault, requestId))
  })
}
