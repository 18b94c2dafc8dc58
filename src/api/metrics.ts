/** The Prometheus page: with a key on the main listener, open on the operations listener. */
import type { FastifyInstance } from 'fastify'
import type { Registry } from 'prom-client'
import type { Access } from '../edge/facts.js'

export interface MetricsPage {
  readonly contentType: string
  page(): Promise<string>
}

/** The page with only this process's counts. */
export const ownPage = ({ registry }: { registry: Registry }): MetricsPage => ({
  contentType: registry.contentType,
  page: () => registry.metrics()
})

export function registerMetrics(app: FastifyInstance, metrics: MetricsPage, access: Access): void {
  app.route({
    method: 'GET',
    url: '/metrics',
    config: { access },
    exposeHeadRoute: false,
    schema: {
      operationId: 'getPrometheusMetrics',
      summary: 'Metrics in Prometheus’ text format',
      tags: ['operations'],
      response: { 200: { description: 'Metrics', content: { 'text/plain': { schema: { type: 'string' } } } } }
    },
    async handler(_request, reply) {
      const page = await metrics.page()
      return reply.type(metrics.contentType).serializer(String).send(page)
    }
  })
}
