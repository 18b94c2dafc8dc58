/** `/openapi.json` and a page at `/docs`, from the schemas that validate. Registered before the routes it describes. */
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { describeRoute } from '../edge/doc-responses.js'
import { mountOf } from '../edge/mount.js'
import { docPagesIndex } from './doc-pages.js'

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
      externalDocs: { description: 'Pages by what you want to do', url: mountOf(app) + docPagesIndex },
      // Wherever the document was read from; the paths have the prefix of the plugin in them.
      servers: [{ url: '/' }],
      components: {
        securitySchemes: {
          key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
          bearer: { type: 'http', scheme: 'bearer' }
        }
      },
      security: [{ key: [] }, { bearer: [] }]
    },
    transform: ({ schema, url, route }) => {
      return {
        schema: describeRoute(schema, route.config?.access?.posture, [route.method].flat()),
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
    await page.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: true,
      // Everything on the page is our own, by relative addresses: over plain HTTP they must stay there.
      transformStaticCSP: (header) => header.replace(/upgrade-insecure-requests;?/, ''),
      indexPrefix: mountOf(app)
    })
  })
}
