/** `/openapi.json` and a page at `/docs`, from the schemas that validate. Registered before the routes it describes. */
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { headerComponents, securitySchemes } from '../edge/doc-headers.js'
import { finishDocument } from '../edge/doc-names.js'
import { type Described, describeRoute } from '../edge/doc-responses.js'
import { mountOf } from '../edge/mount.js'
import { docPagesIndex } from './doc-pages.js'

const access = { posture: 'public' } as const

/** In the order of the page. */
const tags = [
  { name: 'safety', description: 'Have a text evaluated.' },
  { name: 'mcp', description: 'The guarded MCP servers: definitions, calls and results are evaluated.' },
  { name: 'chat', description: 'The guarded routes of chat APIs: requests and answers are evaluated.' },
  { name: 'guards', description: 'The guardrail hooks of other gateways.' },
  { name: 'keys', description: 'Make, rotate and revoke API keys.' },
  { name: 'reviews', description: 'The queue of what a person decides.' },
  { name: 'exceptions', description: 'The way back for a wrong decision.' },
  { name: 'constitutions', description: 'Versions of the policy: store, try, activate, roll back.' },
  { name: 'samples', description: 'Judged texts, where the operator keeps them; for people only.' },
  { name: 'texts', description: 'The sentences that people read in place of stopped content.' },
  { name: 'audit', description: 'Every decision and every administrative act.' },
  { name: 'billing', description: 'What each key had judged.' },
  { name: 'sign-in', description: 'People who sign in to the dashboard.' },
  { name: 'operations', description: 'Health, metrics and state of the program.' }
]

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
      // Relative to the document's own host; the paths contain the prefix of the plugin.
      servers: [{ url: '/' }],
      tags,
      components: { securitySchemes, headers: headerComponents as Record<string, object> }
    },
    convertConstToEnum: false,
    transform: ({ schema, url, route }) => {
      const { access, described, describedPath, takesIdempotencyKey } = route.config ?? {}
      const methods = [route.method].flat()
      // Under a prefix the router registers the exact path with a slash, which clients may not send.
      const own = url.length > 1 ? url.replace(/\/$/, '') : url
      // A hidden route says nothing else of itself, such as the shape of its errors: no description can be made of it.
      if (described?.hide === true || (schema as Described | undefined)?.hide === true)
        return { schema: { hide: true }, url: own }
      return {
        schema: describeRoute(schema, { access, described, takesIdempotencyKey, methods }),
        url: describedPath === undefined ? own : mountOf(app) + describedPath
      }
    },
    transformObject: (made) => finishDocument('openapiObject' in made ? made.openapiObject : {})
  })
  // Serialised once, since it is large and public.
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
  // The page's own routes declare no access: they serve only its files and the document.
  app.register(async (page) => {
    page.addHook('onRoute', (route) => {
      route.config = { ...route.config, access }
    })
    await page.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: true,
      // All resources of the page are our own with relative addresses: over plain HTTP they must not be upgraded.
      transformStaticCSP: (header) => header.replace(/upgrade-insecure-requests;?/, ''),
      indexPrefix: mountOf(app)
    })
  })
}
