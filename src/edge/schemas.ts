/** The schemas of the API: they validate what comes in, type it inside, and are the OpenAPI document. */
import Type from 'typebox'
import { type ErrorCode, errorTable } from '../base/errors.js'
import { nameKinds } from '../encoder/index.js'
import { keyScopes, mcpScopePattern } from '../identity/scopes.js'
import { categories, decisions, detectionTypes, readers } from '../policy/evaluation.js'
import type { ErrorEnvelope } from './doc-errors.js'
import { named, nameSchemas } from './doc-names.js'

const nullable = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description })

export const Decision = named('Decision', Type.Enum([...decisions]))
export const Category = named('Category', Type.Enum([...categories]))
export const Scope = named(
  'Scope',
  Type.Union([
    Type.Enum([...keyScopes]),
    Type.String({
      pattern: mcpScopePattern,
      description: 'Part of mcp:call: one server, mcp:call:files, or tools of it by a glob, mcp:call:files/read_*.'
    })
  ])
)
const Score = Type.Number({ minimum: 0, maximum: 1 })

export const Detection = Type.Object({
  type: named('DetectionType', Type.Enum([...detectionTypes])),
  category: Category,
  confidence: Score,
  rule: Type.String(),
  span: Type.Object(
    { start: Type.Integer(), end: Type.Integer() },
    { description: 'UTF-16 offsets into the original text.' }
  ),
  suppressed: Type.Optional(
    Type.Literal(true, { description: 'Covered by an exception that people made: it did not count.' })
  ),
  layer: Type.String({
    description: 'The view that revealed it: plain, unicode, base64, …; judge for what a heavier judge said.'
  }),
  reader: Type.Optional(
    Type.Enum([...readers], {
      description:
        'What found it: rule for words and patterns, screen for the classifier, encoder, judge for a heavier judge, detector for every other detector. Absent in reviews that an earlier version stored.'
    })
  ),
  kind: Type.Optional(
    Type.Enum([...nameKinds], { description: 'Kind of a name, where names were asked for. It counts in no decision.' })
  )
})

export const Evaluation = Type.Object({
  risk_score: Score,
  decision: Decision,
  is_blocked: Type.Boolean({ description: 'True exactly for forbid.' }),
  matched_rules: Type.Array(Type.String()),
  detections: Type.Array(Detection),
  decision_time_ms: Type.Number(),
  scores: Type.Object(Object.fromEntries(categories.map((category) => [category, Score]))),
  evaluation_id: Type.String(),
  policy: Type.String({ description: 'name@version of the constitution.' }),
  missing_context: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'For depends: the context keys that would settle it; where none would, those with which a person decides.'
    })
  ),
  review_id: Type.Optional(Type.String({ description: 'For divert: the review that was opened.' })),
  review_error: Type.Optional(
    Type.Literal('review_queue_full', {
      description: 'For divert, in the place of review_id: nobody will decide, and nothing was stored.'
    })
  )
})

export const EvaluateReply = Type.Object({ status: Type.Literal('success'), evaluation: Evaluation })

export const KeyRecord = Type.Object({
  key_id: Type.String(),
  name: Type.String(),
  prefix: Type.String({ description: 'slg_<environment>_<8 characters>; never the full key.' }),
  environment: Type.Enum(['live', 'test']),
  scopes: Type.Array(Type.String()),
  ip_allowlist: Type.Array(Type.String()),
  status: Type.Enum(['active', 'retiring', 'revoked', 'expired']),
  created_at: Type.String({ format: 'date-time' }),
  last_used_at: nullable('Last use, within a few seconds.'),
  expires_at: nullable('End of validity.'),
  revoked_at: nullable('When the key was revoked, or will be at the end of its grace.'),
  rotated_to: Type.Union([Type.String(), Type.Null()], { description: 'The key that replaced this one.' }),
  rate_limit_per_minute: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Null: the limit of its environment.'
  }),
  max_concurrent: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Requests under way at once. Null: limits.concurrent_per_key.'
  }),
  created_by: Type.Union([Type.String(), Type.Null()], {
    description:
      'Id of the key (key_…) or the person (usr_…) that created or rotated it over the API. Null: the command line, the first start, or a version that did not keep it.'
  }),
  lineage: Type.String({ description: 'Id of the first key of its chain of rotations.' }),
  roots: Type.Array(Type.String(), {
    description:
      'The people, and the keys made on the command line, that it descends from. Where two persons must act, keys that share an ancestor count as one.'
  }),
  self_rotation: Type.Boolean({ description: 'Whether it may rotate itself without keys:rotate.' }),
  terms: Type.Union(
    [
      Type.Object({
        url: Type.String(),
        accepted_at: Type.String({ format: 'date-time' }),
        accepted_by: Type.Union([Type.String(), Type.Null()], {
          description: 'Id of the key (key_…) or the person (usr_…). Null: the command line.'
        })
      }),
      Type.Null()
    ],
    { description: 'The terms that were accepted when the key was created; its rotations keep them.' }
  )
})

export const CreateKey = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100 }),
    environment: Type.Optional(Type.Enum(['live', 'test'])),
    scopes: Type.Optional(Type.Array(Scope, { minItems: 1, maxItems: 16 })),
    ip_allowlist: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 256 })),
    expires_at: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601.' })),
    rate_limit_per_minute: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    max_concurrent: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100_000, description: 'Requests under way at once.' })
    ),
    self_rotation: Type.Optional(
      Type.Boolean({ description: 'Whether the key may rotate itself without keys:rotate. Default true.' })
    ),
    accept_terms: Type.Optional(
      Type.Boolean({
        description: 'Must be true where GET /api/v1/status has a terms_url; ignored where it has none.'
      })
    )
  },
  { additionalProperties: false }
)

const Lineage = Type.String({
  pattern: '^key_[0-9A-Za-z]{1,40}$',
  description: 'Id of the first key of a chain of rotations.'
})
export const KeyParams = Type.Object({ key_id: Type.String({ pattern: '^key_[0-9A-Za-z]{1,40}$' }) })

nameSchemas({
  Detection,
  Evaluation,
  EvaluateResponse: EvaluateReply,
  Key: KeyRecord,
  CreateKeyRequest: CreateKey
})

/** Cursors are opaque; their reader refuses what it did not write. */
export const Page = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200 }))
  },
  { additionalProperties: false }
)

export const KeyPage = Type.Object(
  { ...Page.properties, lineage: Type.Optional(Lineage) },
  { additionalProperties: false }
)
export const OfLineage = Type.Object({ lineage: Lineage }, { additionalProperties: false })

export const NoQuery = Type.Object({}, { additionalProperties: false })

/** The errors of one status, for the document: `doc-responses.ts` gives them their schemas. */
export interface ErrorAnswer {
  description: string
  codes: readonly ErrorCode[]
  /** The envelope of the errors; undefined: our own. */
  envelope?: ErrorEnvelope
}

/** The answers of the given codes, by status, each naming its codes. */
export function errorResponses(...codes: ErrorCode[]): Record<string, ErrorAnswer> {
  const byStatus: Record<string, ErrorAnswer> = {}
  for (const code of codes) {
    const { status } = errorTable[code]
    const known = byStatus[status]?.codes ?? []
    if (!known.includes(code)) byStatus[status] = errorAnswer([...known, code])
  }
  return byStatus
}

export function errorAnswer(codes: readonly ErrorCode[]): ErrorAnswer {
  return { description: codes.join(', '), codes }
}

/** The same in the envelope that OpenAI's clients read. */
export function openaiErrorResponses(...codes: ErrorCode[]): Record<string, ErrorAnswer> {
  const answers = Object.entries(errorResponses(...codes))
  return Object.fromEntries(answers.map(([status, answer]) => [status, { ...answer, envelope: 'openai' }]))
}

/** Errors of a body before its content is read. */
export const bodyErrors: ErrorCode[] = [
  'validation_error',
  'payload_too_large',
  'too_complex',
  'unsupported_media_type',
  'unsupported_encoding'
]

/** Errors of any route with a key. The rate limit is that of failed authentications, where nothing else counts. */
export const keyErrors: ErrorCode[] = [
  'api_key_required',
  'invalid_api_key',
  'insufficient_scope',
  'ip_not_allowed',
  'rate_limit_exceeded',
  'storage_unavailable'
]

/** Errors of a route that also accepts signed-in people. */
export const managedErrors: ErrorCode[] = [
  ...keyErrors,
  'sign_in_required',
  'cross_site_request',
  'secure_transport_required'
]

/** Errors of any route that counts against the limit and judges a text. */
export const judgedErrors: ErrorCode[] = [
  ...bodyErrors,
  ...keyErrors,
  'concurrency_limit_exceeded',
  'evaluator_unavailable',
  'overloaded'
]
