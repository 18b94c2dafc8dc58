/** The audit over the API: search, and export as JSON lines with the hashes that tie the rows together. */
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Clock } from '../base/clock.js'
import { invalid } from '../base/errors.js'
import { parseMoment } from '../base/instant.js'
import { durationForms, isoTime, parseDuration } from '../base/units.js'
import { header } from '../edge/doc-headers.js'
import { nameSchemas } from '../edge/doc-names.js'
import { callerOf, managed } from '../edge/facts.js'
import { errorResponses, managedErrors } from '../edge/schemas.js'
import { firstAccount } from '../identity/key-service.js'
import { categories, decisions, readers } from '../policy/evaluation.js'
import {
  type AuditFilter,
  type AuditStore,
  type ChainedRow,
  courseDecisions,
  stopped
} from '../storage/contracts/audit.js'
import { pagesOf, sendTexts } from './pages.js'

const defaultPage = 100

const instant = (description: string) =>
  Type.String({ maxLength: 40, description: `${description}: an ISO 8601 time, or a duration ago such as 24h.` })
const name = (description: string) => Type.String({ pattern: '^[^\\u0000-\\u001f\\u007f]{1,200}$', description })
const Query = Type.Object(
  {
    kind: Type.Optional(
      Type.String({ pattern: '^[a-z_.]{1,64}$', examples: ['evaluation', 'review.decided', 'process.started'] })
    ),
    by: Type.Optional(Type.String({ pattern: '^(?:key|usr)_[0-9a-z]{1,40}$', description: 'A key or a user.' })),
    subject: Type.Optional(
      Type.String({ pattern: '^[A-Za-z0-9_.@+-]{1,128}$', description: 'The id of what it was done to.' })
    ),
    node: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_.-]{1,255}$' })),
    decision: Type.Optional(
      Type.Enum([...decisions, stopped], { description: 'Of a verdict. stopped: any but permit.' })
    ),
    rule: Type.Optional(name('A rule that bears on the decision.')),
    category: Type.Optional(
      Type.Enum([...categories], { description: 'In which something was found, a weak hint included.' })
    ),
    reader: Type.Optional(Type.Enum([...readers], { description: 'What found something.' })),
    route: Type.Optional(name('The id of a route, or the path of an endpoint.')),
    upstream: Type.Optional(name('The name of an upstream.')),
    model: Type.Optional(name('A model as clients name it.')),
    status: Type.Optional(
      Type.String({
        pattern: '^[1-5](?:[0-9]{2}|xx)$',
        description:
          'HTTP status, or its class, of a call that failed after its verdict or got none; for an answer of an upstream, the upstream’s status.',
        examples: ['502', '5xx']
      })
    ),
    code: Type.Optional(
      Type.String({
        pattern: '^[a-z_]{1,64}$',
        description: 'The gateway’s error code of such a call, if any.',
        examples: ['upstream_timeout']
      })
    ),
    min_score: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'The lowest risk, inclusive.' })),
    max_score: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'The highest risk, inclusive.' })),
    from: Type.Optional(instant('The earliest')),
    to: Type.Optional(instant('The latest')),
    order: Type.Optional(Type.Enum(['newest', 'oldest'], { description: 'Default newest.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    cursor: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,14}$' })),
    format: Type.Optional(
      Type.Enum(['json', 'jsonl'], {
        description:
          'jsonl: one row a line. Without limit every row of the filter, as it stands now; with one, that many, and the header x-next-cursor has the cursor.'
      })
    )
  },
  { additionalProperties: false }
)

const Verdict = Type.Object({ decision: Type.Enum([...decisions]), risk_score: Type.Number() })
const NextBand = Type.Union([
  Type.Object({
    decision: Type.Enum([...decisions]),
    by: Type.Number({ description: 'How far the score is from it.' })
  }),
  Type.Null()
])
const CategoryName = Type.Enum([...categories])
/** Only in rows of `evaluation`, as made by `policy/explain/kept.ts` and `observe/record.ts`. */
const AuditExplanation = Type.Object(
  {
    thresholds: Type.Optional(Type.Object({ middle: Type.Number(), high: Type.Number() })),
    categories: Type.Optional(
      Type.Array(
        Type.Object({
          category: CategoryName,
          score: Type.Number(),
          decision: Type.Enum([...decisions]),
          to_milder: NextBand,
          to_stricter: NextBand
        }),
        { description: 'Categories in which anything counted, with the distance to the next decision.' }
      )
    ),
    rules: Type.Optional(
      Type.Array(
        Type.Object({
          rule: Type.String(),
          category: CategoryName,
          score: Type.Number({ description: 'What it counts: 0 where the context settles it.' }),
          context: Type.Enum(['none', 'permit', 'forbid', 'open'], { description: 'What the context did to it.' })
        }),
        { description: 'The strongest twelve.' }
      )
    ),
    flips: Type.Optional(
      Type.Array(Type.Object({ without: Type.Array(Type.String()), ...Verdict.properties }), {
        description: 'Rules without which the verdict would be another. At most eight; absent where too much was found.'
      })
    ),
    missing_context: Type.Optional(
      Type.Array(Type.String(), { description: 'Keys of the context that could settle it.' })
    ),
    places: Type.Array(
      Type.Object({
        rule: Type.String(),
        confidence: Type.Number(),
        layer: Type.String({ description: 'The reading that showed it.' }),
        reader: Type.Optional(Type.Enum([...readers])),
        excepted: Type.Optional(Type.Literal(true, { description: 'By people: it did not count.' })),
        pointer: Type.Optional(
          Type.String({
            description:
              'The text in the body, as a JSON pointer; … for a name that a client gave. Absent where there is one text.'
          })
        ),
        role: Type.Optional(Type.String()),
        start: Type.Integer({ description: 'UTF-16 units into that text.' }),
        end: Type.Integer()
      }),
      { description: 'The sixteen strongest places of findings. Never a text.' }
    )
  },
  { description: 'Explanation of a verdict with findings, and the changes that would flip it.' }
)

const AuditRecord = Type.Object({
  seq: Type.Integer(),
  at: Type.String({ format: 'date-time' }),
  kind: Type.String({ examples: ['evaluation', 'key.created', 'review.decided', 'constitution.activated'] }),
  by: Type.Union([Type.String(), Type.Null()], {
    description: 'A key or a user; null for the program and the command line.'
  }),
  subject: Type.Union([Type.String(), Type.Null()]),
  data: Type.Object(
    { explanation: Type.Optional(AuditExplanation) },
    { additionalProperties: true, description: 'Facts of that kind; never a text.' }
  ),
  account: Type.Union([Type.String(), Type.Null()], {
    description: 'Null for what the program itself did, which the account default reads beside its own rows.'
  }),
  node: Type.String(),
  position: Type.Integer({ description: '1, 2, 3, … within the node.' }),
  hash: Type.String({ description: 'SHA-256 over the hash before it and this row: see docs/api.md, section 5.' })
})

/** Longest charted time; for more, the rows themselves are better. */
const longestCourseMs = 31 * 86_400_000
const mostPoints = 1_000
const usualPoints = 60
const { by, node, decision, rule, category, reader, route, upstream, model, min_score, max_score } = Query.properties
const CourseQuery = Type.Object(
  {
    ...{ by, node, decision, rule, category, reader, route, upstream, model, min_score, max_score },
    window: Type.Optional(
      Type.String({
        maxLength: 20,
        description: 'How far back, such as 1h; at most 31d. Default 1h.',
        examples: ['24h']
      })
    ),
    step: Type.Optional(
      Type.String({ maxLength: 20, description: `The length of a point, such as 1m; at most ${mostPoints} points.` })
    )
  },
  { additionalProperties: false }
)
const Counts = Type.Object(Object.fromEntries(decisions.map((decision) => [decision, Type.Integer()])))
const AuditCourse = Type.Object({
  from: Type.String({ format: 'date-time' }),
  to: Type.String({ format: 'date-time' }),
  step_seconds: Type.Number(),
  counted_from: Type.String({
    format: 'date-time',
    description: 'Start of the counted time: with too many rows, earlier ones are not counted.'
  }),
  evaluations: Type.Object({ total: Type.Integer(), by_decision: Counts }),
  points: Type.Array(Type.Object({ at: Type.String({ format: 'date-time' }), decisions: Counts }))
})

const AuditPage = Type.Object({ rows: Type.Array(AuditRecord), next_cursor: Type.Optional(Type.String()) })
const AuditLines = Type.String({ description: 'With format=jsonl: one row a line.' })
nameSchemas({ AuditExplanation, AuditRow: AuditRecord, AuditPage, AuditCourse })

export function registerAudit(app: FastifyInstance, audit: AuditStore, clock: Clock): void {
  app.route<{ Querystring: Static<typeof Query> }>({
    method: 'GET',
    url: '/api/v1/audit',
    config: { access: managed('*') },
    schema: {
      operationId: 'searchAudit',
      summary: 'Search the audit: every decision and every administrative act, without texts',
      tags: ['audit'],
      querystring: Query,
      response: {
        200: {
          description: 'Rows of the audit',
          headers: { 'x-next-cursor': header('NextCursor') },
          content: { 'application/json': { schema: AuditPage }, 'application/jsonl': { schema: AuditLines } }
        },
        ...errorResponses('validation_error', ...managedErrors)
      }
    },
    async handler(request, reply) {
      const { order = 'newest', limit = defaultPage, cursor, format } = request.query
      const now = clock.now()
      const filter = readFilter(request.query, callerOf(request).accountId, now)
      // Flushed first, so that a search finds the caller's latest acts.
      await audit.flush()
      const after = cursor === undefined ? undefined : Number(cursor)
      if (format === 'jsonl' && request.query.limit === undefined) {
        // The end is fixed at the start: under load an export of oldest rows first would never end.
        const upTo = { ...filter, to: Math.min(filter.to ?? now, now) }
        return sendTexts(reply.type(jsonLines), exportOf(audit, { filter: upTo, order, after }))
      }
      const rows = await audit.read({ filter, order, after, limit: limit + 1 })
      const shown = rows.slice(0, limit).map(auditRecord)
      const next = rows.length > limit ? String(shown.at(-1)!.seq) : undefined
      if (format !== 'jsonl') return next === undefined ? { rows: shown } : { rows: shown, next_cursor: next }
      if (next !== undefined) reply.header('x-next-cursor', next)
      return reply.type(jsonLines).serializer(String).send(linesOf(shown))
    }
  })

  app.route<{ Querystring: Static<typeof CourseQuery> }>({
    method: 'GET',
    url: '/api/v1/audit/course',
    config: { access: managed('*') },
    schema: {
      operationId: 'getAuditCourse',
      summary: 'How many verdicts of a filter were what, step by step',
      description: 'The charts of a filter, from the same rows as the search.',
      tags: ['audit'],
      querystring: CourseQuery,
      response: { 200: AuditCourse, ...errorResponses('validation_error', ...managedErrors) }
    },
    async handler(request) {
      const now = clock.now()
      const {
        account = '',
        marks,
        keyId,
        node,
        minScore,
        maxScore
      } = readFilter(request.query, callerOf(request).accountId, now)
      const time = readCourse(request.query, now)
      await audit.flush()
      const { countedFrom, points } = await audit.course({
        filter: { account, marks, keyId, node, minScore, maxScore },
        ...time
      })
      const byDecision = Object.fromEntries(
        courseDecisions.map((decision) => [decision, points.reduce((sum, point) => sum + point[decision], 0)])
      )
      return {
        from: isoTime(time.from),
        to: isoTime(time.to),
        step_seconds: time.step / 1000,
        counted_from: isoTime(countedFrom),
        evaluations: {
          total: Object.values(byDecision).reduce((sum, count) => sum + count, 0),
          by_decision: byDecision
        },
        points: points.map((counts, i) => ({ at: isoTime(time.from + i * time.step), decisions: counts }))
      }
    }
  })
}

/** Whole steps; the last one is unfinished. */
function readCourse(query: Static<typeof CourseQuery>, now: number): { from: number; to: number; step: number } {
  const read = (name: 'window' | 'step', text: string) => {
    const ms = parseDuration(text)
    if (ms !== undefined && ms >= 1000) return ms
    throw invalid(
      `query.${name}`,
      'invalid_format',
      `${name} must be a duration of a second or more: ${durationForms}.`
    )
  }
  const window = read('window', query.window ?? '1h')
  if (window > longestCourseMs) throw invalid('query.window', 'out_of_range', 'window must be at most 31d.')
  const step = query.step === undefined ? Math.ceil(window / usualPoints / 1000) * 1000 : read('step', query.step)
  if (window / step > mostPoints) {
    throw invalid('query.step', 'out_of_range', `step must leave at most ${mostPoints} points in the window.`)
  }
  const to = Math.ceil((now + 1) / step) * step
  return { from: to - Math.ceil(window / step) * step, to, step }
}

type Record = ReturnType<typeof auditRecord>
const jsonLines = 'application/jsonl; charset=utf-8'

function linesOf(rows: readonly Record[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

/** @param page oldest first or newest, from an exclusive place on */
export async function* exportOf(
  audit: Pick<AuditStore, 'read'>,
  { after: from, ...page }: Omit<Parameters<AuditStore['read']>[0], 'limit'>
): AsyncGenerator<string, void> {
  const pages = pagesOf((last: ChainedRow | undefined, limit) =>
    audit.read({ ...page, after: last?.seq ?? from, limit })
  )
  for await (const rows of pages) yield linesOf(rows.map(auditRecord))
}

export function auditRecord(row: ChainedRow) {
  const { seq, at, kind, keyId, subject, data, account, node, position, hash } = row
  return { seq, at: isoTime(at), kind, by: keyId, subject, data, account, node, position, hash }
}

function readFilter(
  query: Omit<Static<typeof Query>, 'order' | 'limit' | 'cursor' | 'format'>,
  account: string,
  now: number
): AuditFilter {
  const { kind, by: keyId, subject, node } = query
  const { rule, category, reader, decision, model, upstream, route, status, code } = query
  const { min_score: minScore, max_score: maxScore } = query
  if (minScore !== undefined && maxScore !== undefined && minScore > maxScore) {
    throw invalid('query.min_score', 'out_of_range', 'min_score must not be above max_score.')
  }
  return {
    account,
    // The account that operates the gateway also reads what the program itself did.
    withProgram: account === firstAccount,
    kind,
    keyId,
    subject,
    node,
    marks: { rule, category, reader, decision, model, upstream, route, status, code },
    minScore,
    maxScore,
    from: readInstant('from', query.from, now),
    to: readInstant('to', query.to, now)
  }
}

/** @throws Fault `validation_error` that names the field */
export function readInstant(name: string, text: string | undefined, now: number, place = 'query'): number | undefined {
  if (text === undefined) return undefined
  const at = parseMoment(text, now)
  if (at === undefined) {
    throw invalid(
      `${place}.${name}`,
      'invalid_format',
      `${name} must be an ISO 8601 time, or a duration: ${durationForms}.`
    )
  }
  return at
}
