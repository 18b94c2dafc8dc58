/** Liveness and readiness, without a key: an orchestrator has none. */
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { named } from '../edge/doc-names.js'

const access = { posture: 'public' } as const
const Status = named('Health', Type.Object({ status: Type.String() }))

export function registerHealth(app: FastifyInstance, ready: () => Promise<boolean>): void {
  app.route({
    method: 'GET',
    url: '/healthz',
    config: { access },
    // A probe by HEAD is common enough.
    exposeHeadRoute: true,
    schema: {
      operationId: 'getLiveness',
      summary: 'The process runs',
      tags: ['operations'],
      response: { 200: Status }
    },
    handler: async () => ({ status: 'ok' })
  })
  app.route({
    method: 'GET',
    url: '/readyz',
    config: { access },
    exposeHeadRoute: true,
    schema: {
      operationId: 'getReadiness',
      summary: 'Requests can be served',
      tags: ['operations'],
      response: { 200: Status, 503: Status }
    },
    async handler(request, reply) {
      if (await ready()) return { status: 'ready' }
      // Every probe of a gateway that starts or stops gets this: the log has said why.
      request.sluicegate.isQuiet = true
      return reply.code(503).header('retry-after', '1').send({ status: 'unavailable' })
    }
  })
}
