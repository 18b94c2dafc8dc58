/** `/openapi.json` and a page at `/docs`, from the schemas that validate. Registered before the routes it describes. */
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import type { Posture } from './facts.js'

const access = { posture: 'public' } as const

/** The chat routes speak their upstream's published shapes, which are not ours to describe. */
const chatSummaries: Partial<Record<Posture, { summary: string; tags: string[] }>> = {
  guarded: { summary: 'A chat route: the request and the answer are evaluated', tags: ['chat'] },
  pass: { summary: 'Forwarded with a key, without evaluation', tags: ['chat'] }
}

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
    },
    transform: ({ schema, url, route }) => {
      const posture = route.config?.access?.posture
      return {
        schema: { ...chatSummaries[posture ?? 'public'], ...schema, ...(posture === 'public' ? { security: [] } : {}) },
        // A registration of one exact path under a prefix is known to the router with a slash, which clients may not send.
        url: url.length > 1 ? url.replace(/\/$/, '') : url
      }
    }
  })
  // Anyone may ask for it, and it is large: it is written once.
  let text: string | undefined
  app.route({
    method: 'GET',
    url: '/openapi.json',
    config: { access },
    schema: { hide: true },
    async handler(_request, reply) {
      text ??= JSON.stringify(app.swagger())
      return reply.type('application/json; charset=utf-8').send(text)
    }
  })
  // The page's own routes declare no access: they hold nothing but its files and the document.
  app.register(async (page) => {
    page.addHook('onRoute', (route) => {
      route.config = { ...route.config, access }
    })
    await page.register(swaggerUi, { routePrefix: '/docs', staticCSP: true, indexPrefix: app.prefix })
  })
}
