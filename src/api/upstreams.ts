/** The API of backends, which lists them and lets the dashboard connect one: docs/dashboard.md. */
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { nameSchemas } from '../edge/doc-names.js'
import { type Access, callerOf, managed } from '../edge/facts.js'
import { bodyErrors, errorResponses, managedErrors, NoQuery } from '../edge/schemas.js'
import type { Actor } from '../identity/caller.js'
import { backendApis } from '../storage/contracts/upstreams.js'

const path = '/api/v1/upstreams'
const tags = ['operations']
const closed = { additionalProperties: false }
const nullableText = Type.Union([Type.String(), Type.Null()])

const Name = Type.Object({ name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$' }) }, closed)
const Connect = Type.Object(
  {
    url: Type.String({ maxLength: 2048, description: 'http or https; a path is a prefix.' }),
    api: Type.Enum([...backendApis], { description: 'What it speaks; openai for all that is compatible.' }),
    key: Type.Optional(
      Type.String({
        maxLength: 4096,
        pattern: '^[\\x21-\\x7e]+$',
        description: 'Its own credential. It is stored encrypted, and never shown again.'
      })
    )
  },
  closed
)
const Upstream = Type.Object({
  name: Type.String(),
  from: Type.Enum(['configuration', 'api'], { description: 'Where a name is in both, the configuration counts.' }),
  url: Type.String(),
  api: Type.Union([Type.Enum([...backendApis]), Type.Null()], { description: 'Null: the configuration does not say.' }),
  has_key: Type.Boolean(),
  in_force: Type.Boolean({ description: 'Whether it answers what routes send to its name.' }),
  version: Type.Union([Type.Integer(), Type.Null()], { description: 'Of those of the API: counts up from 1.' }),
  changed_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  changed_by: nullableText
})
const Upstreams = Type.Object({
  upstreams: Type.Array(Upstream),
  closed: Type.Union([Type.String(), Type.Null()], {
    description: 'Why none can be connected over the API here; null where administrators may.'
  })
})
const ConnectedUpstream = Type.Object({
  upstream: Upstream,
  models: Type.Array(Type.String(), { description: 'The ids of its models, as the check read them.' })
})
nameSchemas({ Upstream, Upstreams, ConnectedUpstream, ConnectUpstream: Connect })

export interface UpstreamsOfApi {
  readonly closed: string | undefined
  list(actor: Actor): Promise<Static<typeof Upstream>[]>
  connect(actor: Actor, upstream: Static<typeof Connect> & { name: string }): Promise<Static<typeof ConnectedUpstream>>
  disconnect(actor: Actor, name: string): Promise<void>
}

/** Never for keys, whatever their scopes, since it decides where every chat goes. */
const change: { access: Access } = { access: { posture: 'person', scope: '*', people: 'confirmed' } }
const changeErrors = [...managedErrors, 'confirmation_required', 'not_found', 'active_changed'] as const

export function registerUpstreams(app: FastifyInstance, upstreams: UpstreamsOfApi): void {
  app.route({
    method: 'GET',
    url: path,
    config: { access: managed('*') },
    schema: {
      operationId: 'listUpstreams',
      summary: 'List the backends of the configuration and of the API',
      tags,
      querystring: NoQuery,
      response: { 200: Upstreams, ...errorResponses('validation_error', ...managedErrors, 'not_found') }
    },
    handler: async (request) => ({
      upstreams: await upstreams.list(callerOf(request)),
      closed: upstreams.closed ?? null
    })
  })

  app.route<{ Params: Static<typeof Name>; Body: Static<typeof Connect> }>({
    method: 'PUT',
    url: `${path}/:name`,
    config: change,
    schema: {
      operationId: 'connectUpstream',
      summary: 'Connect a backend',
      description:
        'For signed-in administrators who have confirmed their identity lately. One GET of its list of models checks it: without redirects, never to a link-local address or a metadata service. Then it is stored as a new version and in force; other nodes follow within two seconds.',
      tags,
      params: Name,
      querystring: NoQuery,
      body: Connect,
      response: { 200: ConnectedUpstream, ...errorResponses(...bodyErrors, ...changeErrors) }
    },
    handler: (request) => upstreams.connect(callerOf(request), { ...request.body, ...request.params })
  })

  app.route<{ Params: Static<typeof Name> }>({
    method: 'DELETE',
    url: `${path}/:name`,
    config: change,
    schema: {
      operationId: 'disconnectUpstream',
      summary: 'Take a connected backend away',
      description: 'Its key is erased. Backends of the configuration cannot be removed here.',
      tags,
      params: Name,
      querystring: NoQuery,
      response: { 204: Type.Null(), ...errorResponses('validation_error', ...changeErrors) }
    },
    async handler(request, reply) {
      await upstreams.disconnect(callerOf(request), request.params.name)
      return reply.code(204).send()
    }
  })
}
