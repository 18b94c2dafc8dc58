/** The API for policy editors: the vocabulary of constitutions, the check of a draft, and the bindings of routes. */
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { Fault } from '../base/errors.js'
import type { RouteBindings } from '../constitutions/bindings.js'
import type { Checker } from '../constitutions/check.js'
import { nameSchemas } from '../edge/doc-names.js'
import { callerOf, managed } from '../edge/facts.js'
import { bodyErrors, errorResponses, managedErrors, NoQuery } from '../edge/schemas.js'
import { firstAccount } from '../identity/key-service.js'
import { language } from '../policy/constitution/language.js'
import { categories } from '../policy/evaluation.js'
import { constitutionOrigins } from '../storage/contracts/constitutions.js'
import { ConstitutionParams, Problem, Source, Warnings } from './constitution-schemas.js'

const closed = { additionalProperties: false }
const tags = ['constitutions']
const read = { access: managed('constitutions:read') }
/** Confirmed, since another constitution may let more through. */
const enforce = { access: managed('constitutions:write', { confirmed: true }) }
const base = '/api/v1'

const Names = Type.Array(Type.String())
const Open = Type.Object({}, { additionalProperties: true })
const Text = Type.Union([Type.String(), Type.Null()])

const Language = Type.Object({
  schemas: Type.Object(
    { whole: Open, overlay: Open },
    {
      description: 'JSON Schemas of a constitution, and of one that extends another, with descriptions of all words.'
    }
  ),
  bases: Names,
  categories: Names,
  types: Names,
  roles: Names,
  detectors: Type.Array(Type.Object({ name: Type.String(), kinds: Names, groups: Names })),
  lists: Type.Array(Type.Object({ name: Type.String(), lexicons: Names, about: Type.String() })),
  formats: Names,
  shipped: Type.Array(
    Type.Object({
      name: Type.String(),
      description: Type.String(),
      source: Type.String(),
      examples: Type.Array(Open, { description: 'What it decides of texts, as its tests hold it to.' })
    })
  ),
  points: Type.Union([Open, Type.Null()], {
    description: 'Numbers of measured harmful and harmless texts that reach each score, over all and by category.'
  })
})

const Checked = Type.Object({
  valid: Type.Boolean(),
  problems: Type.Array(Problem, {
    description:
      'All problems, in order of discovery. Later checks report theirs only once the earlier problems are fixed.'
  }),
  warnings: Warnings,
  effective: Type.Union(
    [
      Type.Object({
        extends: Text,
        readers: Type.String(),
        bands: Type.Object({ middle: Type.Number(), high: Type.Number() }),
        categories: Type.Object(
          Object.fromEntries(
            categories.map((category) => [
              category,
              Type.Object({ high: Type.String(), middle: Type.String() }, { additionalProperties: true })
            ])
          )
        ),
        assume: Type.Record(Type.String(), Type.String()),
        rules: Type.Array(
          Type.Object({
            name: Type.String(),
            category: Type.String(),
            weight: Type.Number(),
            nominate: Type.Boolean(),
            detector: Text,
            kinds: Type.Union([Names, Type.Null()]),
            min_confidence: Type.Union([Type.Number(), Type.Null()]),
            phrases: Type.Integer(),
            patterns: Type.Integer(),
            guarded: Type.Union([Names, Type.Null()]),
            direction: Type.String(),
            roles: Type.Union([Names, Type.Null()]),
            context_keys: Names
          })
        ),
        judges: Names
      }),
      Type.Null()
    ],
    { description: 'The effective constitution, with its base; null where it is not valid.' }
  )
})

const Check = Type.Object({ source: Source }, closed)

const RouteId = Type.String({ minLength: 1, maxLength: 1000, examples: ['/v1/chat/completions'] })
const Name = Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' })
const Route = Type.Object({
  route: RouteId,
  path: Type.Optional(Type.String({ description: 'Left out: the configuration has no such route any more.' })),
  dialect: Type.Optional(Type.String()),
  upstream: Type.Optional(Type.String()),
  models: Type.Optional(Names),
  constitution: Type.Union([Type.String(), Type.Null()], { description: 'What judges it.' }),
  decided_by: Type.Union([Type.Enum(['file', 'store', 'default']), Type.Null()], {
    description: 'The configuration has the first word, then the store.'
  }),
  in_force: Type.Boolean({
    description: 'False: no version of it is in force here, and the route refuses every request.'
  }),
  file: Type.Union([Type.String(), Type.Null()], { description: 'What the configuration names for it.' }),
  store: Type.Union(
    [
      Type.Object({
        constitution: Text,
        at: Type.String({ format: 'date-time' }),
        by: Text,
        origin: Type.Enum([...constitutionOrigins])
      }),
      Type.Null()
    ],
    { description: 'The last word of the store on it.' }
  )
})
const Bind = Type.Object(
  {
    route: RouteId,
    constitution: Type.Union([Name, Type.Null()], { description: 'Null: the configuration’s own again.' }),
    if_constitution: Type.Optional(
      Type.Union([Name, Type.Null()], {
        description: 'Only where the store binds the route to this one now (null: to none); else 409 binding_changed.'
      })
    )
  },
  { ...closed, examples: [{ route: '/v1/chat/completions', constitution: 'support' }] }
)

nameSchemas({
  ConstitutionLanguage: Language,
  CheckedConstitution: Checked,
  CheckConstitutionRequest: Check,
  ConstitutionRoute: Route,
  BindConstitutionRouteRequest: Bind
})

export interface PolicyEditingDeps {
  checker: Checker
  bindings: RouteBindings
}

export function registerPolicyEditing(app: FastifyInstance, { checker, bindings }: PolicyEditingDeps): void {
  app.route({
    method: 'GET',
    url: `${base}/constitution-language`,
    config: read,
    schema: {
      operationId: 'getConstitutionLanguage',
      summary: 'The vocabulary of constitutions, the shipped ones, and the measured effect of the bands',
      tags,
      querystring: NoQuery,
      response: { 200: Language, ...errorResponses('validation_error', ...managedErrors, 'not_found') }
    },
    async handler(request, reply) {
      if (callerOf(request).accountId !== firstAccount) throw new Fault('not_found')
      // Serialised directly, since a serialiser from this description would drop parts of the schemas.
      return reply.serializer(JSON.stringify).type('application/json; charset=utf-8').send(language())
    }
  })

  app.route<{ Params: Static<typeof ConstitutionParams>; Body: Static<typeof Check> }>({
    method: 'POST',
    url: `${base}/constitutions/:name/check`,
    config: read,
    schema: {
      operationId: 'checkConstitution',
      summary: 'Check a draft: every problem with its place, or the effective constitution with its base',
      description: 'Stores nothing. The name need not exist yet.',
      tags,
      params: ConstitutionParams,
      querystring: NoQuery,
      body: Check,
      response: { 200: Checked, ...errorResponses(...bodyErrors, ...managedErrors, 'not_found', 'overloaded') }
    },
    handler: (request) => checker.check(callerOf(request), request.params.name, request.body.source)
  })

  app.route({
    method: 'GET',
    url: `${base}/constitution-routes`,
    config: read,
    schema: {
      operationId: 'listConstitutionRoutes',
      summary: 'Which constitution judges which route, and by whose word',
      tags,
      querystring: NoQuery,
      response: {
        200: Type.Object({ routes: Type.Array(Route) }),
        ...errorResponses('validation_error', ...managedErrors)
      }
    },
    handler: (request) => bindings.list(callerOf(request))
  })

  app.route<{ Body: Static<typeof Bind> }>({
    method: 'PUT',
    url: `${base}/constitution-routes`,
    config: enforce,
    schema: {
      operationId: 'bindConstitutionRoute',
      summary: 'Bind a route to a constitution that is in force, or to none',
      description:
        'Counts for every request that begins later, on every node. A route whose constitution the configuration names cannot be bound.',
      tags,
      querystring: NoQuery,
      body: Bind,
      response: {
        200: Route,
        ...errorResponses(...bodyErrors, ...managedErrors, 'not_found', 'confirmation_required', 'binding_changed')
      }
    },
    handler: (request) => bindings.bind(callerOf(request), request.body)
  })
}
