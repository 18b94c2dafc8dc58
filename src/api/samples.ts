/** The samples API, for people who sign in and may read samples; no key may, whatever its scopes. */
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { roles } from '../base/chat.js'
import type { Clock } from '../base/clock.js'
import { redactables } from '../base/decision.js'
import { invalid } from '../base/errors.js'
import { sampleKinds } from '../base/settings.js'
import { nameSchemas } from '../edge/doc-names.js'
import { callerOf, managed } from '../edge/facts.js'
import { Category, Decision, Detection, errorResponses, managedErrors, NoQuery, Page } from '../edge/schemas.js'
import { categories, decisions } from '../policy/evaluation.js'
import type { SampleService } from '../samples/sample-service.js'
import { stopped } from '../storage/contracts/audit.js'
import type { SampleFilter } from '../storage/contracts/samples.js'
import { readInstant } from './audit.js'

const path = '/api/v1/safety/samples'
const tags = ['samples']
const closed = { additionalProperties: false }
const read = { access: managed('samples:read') }
/** Confirmed, since the deletion is final for everyone. */
const removeMany = { access: managed('samples:read', { confirmed: true }) }
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(type: T, description: string) =>
  Type.Union([type, Type.Null()], { description })
const name = (description: string) => Type.String({ pattern: '^[^\\u0000-\\u001f\\u007f]{1,200}$', description })
const instant = (description: string) =>
  Type.String({ maxLength: 40, description: `${description}: an ISO 8601 time, or a duration ago such as 24h.` })

/** Filter fields of samples, here and for a dry run over them. */
export const sampleFilterFields = {
  decision: Type.Optional(Type.Enum([...decisions, stopped], { description: 'stopped: any but permit.' })),
  rule: Type.Optional(name('A rule that bears on the decision.')),
  category: Type.Optional(Type.Enum([...categories], { description: 'In which something was found.' })),
  route: Type.Optional(name('The id of a route, or the path of an endpoint.')),
  key_id: Type.Optional(Type.String({ pattern: '^key_[0-9A-Za-z]{1,40}$' })),
  evaluation_id: Type.Optional(
    Type.String({ pattern: '^ev_[0-9A-Za-z]{1,40}$', description: 'Its row in the audit.' })
  ),
  from: Type.Optional(instant('The earliest')),
  to: Type.Optional(instant('The latest'))
}
const Filter = Type.Object(sampleFilterFields, closed)
const Query = Type.Object({ ...Page.properties, ...sampleFilterFields }, closed)
const RemovalQuery = Type.Object(
  {
    ...sampleFilterFields,
    all: Type.Optional(Type.Literal('true', { description: 'Asked for where there is no filter: every sample goes.' }))
  },
  closed
)
const SampleParams = Type.Object({ sample_id: Type.String({ pattern: '^smp_[0-9A-Za-z]{1,40}$' }) })
const Redact = Type.Object(
  {
    redact: Type.Optional(
      Type.String({
        pattern: '^(?:personal_data|secrets|names)(?:,(?:personal_data|secrets|names)){0,2}$',
        description: `Kinds to redact for this reading, from ${redactables.join(', ')}, separated by commas. Secrets are always redacted.`,
        examples: ['personal_data,names']
      })
    )
  },
  closed
)

const fields = {
  sample_id: Type.String({ pattern: '^smp_' }),
  evaluation_id: Type.String({ description: 'Subject of its audit row, which has the sample’s id as `sample`.' }),
  created_at: Type.String({ format: 'date-time' }),
  decision: Decision,
  risk_score: Type.Number(),
  matched_rules: Type.Array(Type.String()),
  categories: Type.Array(Category),
  surface: Type.String({ examples: ['chat', 'answer', 'evaluate'] }),
  route: Type.String(),
  policy: Type.String(),
  upstream: orNull(Type.String(), 'Where it went, or came from.'),
  model: orNull(Type.String(), 'As the client named it.'),
  key_id: Type.String()
}
const Sample = Type.Object(fields)
const SampleDetail = Type.Object({
  ...fields,
  direction: Type.Enum(['request', 'answer']),
  parts: Type.Array(
    Type.Object({
      role: Type.Enum([...roles]),
      text: Type.String(),
      is_key: Type.Optional(Type.Literal(true, { description: 'The name of a field.' }))
    }),
    { description: 'In order. Redacted places show as <SECRETS>, <MEDIA>, <PERSONAL_DATA> or the kind of a name.' }
  ),
  context: orNull(Type.Object({}, { additionalProperties: true }), 'What the caller said it was about.'),
  detections: Type.Array(
    Type.Object({ ...Detection.properties, part: Type.Integer({ description: 'Index into the parts, from 0.' }) })
  ),
  scores: Type.Record(Type.String(), Type.Number(), { description: 'By category, where above 0.' }),
  is_cut: Type.Boolean({ description: 'Whether there was more than is kept of one sample.' }),
  redacted: Type.Array(Type.Enum([...redactables]), { description: 'What was replaced for this reading.' })
})
const Keeping = Type.Object({
  what: Type.Enum([...sampleKinds], { description: 'Of what samples are taken now.' }),
  share: Type.Number({ description: 'Of everything, where what is share.' }),
  retention_seconds: Type.Integer(),
  max_rows: Type.Integer(),
  max_bytes: Type.Integer(),
  rows: Type.Integer({ description: 'How many there are.' }),
  bytes: Type.Integer({ description: 'Of their sealed texts.' })
})
const SampleList = Type.Object({
  samples: Type.Array(Sample),
  keeping: Keeping,
  next_cursor: Type.Optional(Type.String())
})
const Deleted = Type.Object({ deleted: Type.Integer() })
nameSchemas({ Sample, SampleDetail, SampleKeeping: Keeping, SampleList, DeletedSamples: Deleted })

type OfSample = { Params: Static<typeof SampleParams> }

export function registerSamples(app: FastifyInstance, samples: SampleService, clock: Clock): void {
  app.route<{ Querystring: Static<typeof Query> }>({
    method: 'GET',
    url: path,
    config: read,
    schema: {
      operationId: 'listSamples',
      summary: 'List samples, newest first, without texts',
      description: 'For people who sign in alone. Each reading is in the audit.',
      tags,
      querystring: Query,
      response: { 200: SampleList, ...errorResponses('validation_error', ...managedErrors) }
    },
    async handler(request, reply) {
      const { limit, cursor, ...filter } = request.query
      const page = { ...readSampleFilter(filter, clock.now()), limit, cursor }
      return reply.header('cache-control', 'no-store').send(await samples.list(callerOf(request), page))
    }
  })

  app.route<OfSample & { Querystring: Static<typeof Redact> }>({
    method: 'GET',
    url: `${path}/:sample_id`,
    config: read,
    schema: {
      operationId: 'getSample',
      summary: 'Read a sample with its text; the reading is in the audit',
      tags,
      params: SampleParams,
      querystring: Redact,
      response: {
        200: SampleDetail,
        ...errorResponses('validation_error', ...managedErrors, 'not_found', 'evaluator_unavailable', 'overloaded')
      }
    },
    async handler(request, reply) {
      const { redact } = request.query
      const wanted = redactables.filter((one) => redact?.split(',').includes(one))
      const sample = await samples.get(callerOf(request), request.params.sample_id, wanted)
      return reply.header('cache-control', 'no-store').send(sample)
    }
  })

  app.route<OfSample>({
    method: 'DELETE',
    url: `${path}/:sample_id`,
    config: read,
    schema: {
      operationId: 'deleteSample',
      summary: 'Delete a sample',
      tags,
      params: SampleParams,
      querystring: NoQuery,
      response: { 204: Type.Null(), ...errorResponses('validation_error', ...managedErrors, 'not_found') }
    },
    async handler(request, reply) {
      await samples.remove(callerOf(request), request.params.sample_id)
      return reply.code(204).send()
    }
  })

  app.route<{ Querystring: Static<typeof RemovalQuery> }>({
    method: 'DELETE',
    url: path,
    config: removeMany,
    schema: {
      operationId: 'deleteSamples',
      summary: 'Delete the samples that fit a filter, or all of them',
      tags,
      querystring: RemovalQuery,
      response: { 200: Deleted, ...errorResponses('validation_error', ...managedErrors, 'confirmation_required') }
    },
    async handler(request) {
      const { all, ...filter } = request.query
      const isAll = Object.keys(filter).length === 0
      if (isAll !== (all === 'true'))
        throw invalid('query.all', isAll ? 'missing' : 'unknown_field', 'Give a filter, or all=true, and not both.')
      return samples.removeAll(callerOf(request), readSampleFilter(filter, clock.now()))
    }
  })
}

export function readSampleFilter(
  { key_id: keyId, evaluation_id: evaluationId, from, to, ...same }: Static<typeof Filter>,
  now: number,
  place = 'query'
): SampleFilter {
  return {
    ...same,
    keyId,
    evaluationId,
    from: readInstant('from', from, now, place),
    to: readInstant('to', to, now, place)
  }
}
