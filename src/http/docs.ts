/** `/openapi.json` and a page at `/docs`, from the schemas that validate. Registered before the routes it describes. */
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

const access = { posture: 'public' } as const

export async function registerDocs(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Sluicegate',
        version,
        description: 'An LLM safety gateway: evaluate texts, guard chats, manage keys and reviews.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' }
      },
      components: {
        securitySchemes: {
          key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
          bearer: { type: 'http', scheme: 'bearer' }
        }
      },
      security: [{ key: [] }, { bearer: [] }]
    }
  })
  app.route({
    method: 'GET',
    url: '/openapi.json',
    config: { access },
    schema: { hide: true },
    handler: async () => app.swagger()
  })
  // The page's own routes declare no access: they hold nothing but its files and the document.
  app.register(async (page) => {
    page.addHook('onRoute', (route) => {
      route.config = { ...route.config, access }
    })
    await page.register(swaggerUi, { routePrefix: '/docs', staticCSP: true, indexPrefix: app.prefix })
  })
}
