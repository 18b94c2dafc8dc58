/** The Prometheus page: with a key on the main listener, open on the operations listener. */
import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../observe/metrics.js'
import type { Access } from './facts.js'

export function registerMetrics(app: FastifyInstance, metrics: Metrics, access: Access): void {
  app.route({
    method: 'GET',
    url: '/metrics',
    config: { access },
    exposeHeadRoute: false,
    schema: { summary: 'Metrics in Prometheus’ text format', tags: ['operations'] },
    async handler(_request, reply) {
      const page = await metrics.registry.metrics()
      return reply.type(metrics.registry.contentType).serializer(String).send(page)
    }
  })
}
