/**
 * `GET /api/v1/billing/usage` (docs/api.md, section 5): the judged amounts of each key by day; test keys cost nothing.
 */
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Clock } from '../base/clock.js'
import { invalid } from '../base/errors.js'
import { dayOf, parseDay } from '../base/instant.js'
import { nameSchemas } from '../edge/doc-names.js'
import { callerOf, managed } from '../edge/facts.js'
import { errorResponses, managedErrors } from '../edge/schemas.js'
import { surfaces } from '../observe/record.js'
import type { UsageRow, UsageStore } from '../storage/contracts/audit.js'
import { json, objectText, pagesOf, sendTexts } from './pages.js'

const maxDays = 366
const usualDays = 30
const dayMs = 86_400_000

const Day = (description: string) =>
  Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description, examples: ['2026-01-31'] })
const Query = Type.Object(
  {
    from: Type.Optional(Day(`The first day, in UTC; default ${usualDays} days, the last included.`)),
    to: Type.Optional(Day('The last day, in UTC; default today.')),
    key_id: Type.Optional(Type.String({ pattern: '^key_[0-9a-z]{1,40}$' })),
    format: Type.Optional(Type.Enum(['json', 'csv'], { description: 'Also by the header Accept: text/csv.' }))
  },
  { additionalProperties: false }
)

const Counts = {
  evaluations: Type.Integer(),
  characters: Type.Integer({ description: 'UTF-16 units of the texts that were judged.' }),
  billable_evaluations: Type.Integer({ description: '0 for test keys.' }),
  billable_characters: Type.Integer()
}
const Usage = Type.Object({
  from: Type.String(),
  to: Type.String(),
  days: Type.Array(
    Type.Object({
      day: Type.String(),
      key_id: Type.String(),
      environment: Type.Enum(['live', 'test']),
      ...Counts,
      by_surface: Type.Object({}, { additionalProperties: Type.Integer(), description: 'Evaluations by surface.' })
    })
  ),
  total: Type.Object(Counts)
})
const UsageLines = Type.String({ description: 'RFC 4180, with a line of names first.' })
nameSchemas({ Usage })
type Line = Static<typeof Usage>['days'][number]

export function registerUsage(app: FastifyInstance, usage: UsageStore, clock: Clock): void {
  app.route<{ Querystring: Static<typeof Query> }>({
    method: 'GET',
    url: '/api/v1/billing/usage',
    config: { access: managed('billing:read') },
    schema: {
      operationId: 'getUsage',
      summary: 'Evaluations and characters per key and day',
      description: 'Counted when a verdict is given, on every surface; exact, within 100 ms.',
      tags: ['billing'],
      querystring: Query,
      response: {
        200: {
          description: 'A line for each day and key',
          content: { 'application/json': { schema: Usage }, 'text/csv': { schema: UsageLines } }
        },
        ...errorResponses('validation_error', ...managedErrors)
      }
    },
    async handler(request, reply) {
      const { from, to } = readRange(request.query, clock.now())
      const { accountId } = callerOf(request)
      const { key_id: keyId, format } = request.query
      const rows = pagesOf((after: UsageRow | undefined, limit) =>
        usage.read(accountId, { from, to, keyId, after, limit })
      )
      const wantsCsv = format === 'csv' || (format === undefined && acceptsCsv(request.headers.accept))
      reply.header('vary', 'accept')
      if (!wantsCsv) {
        const total = { ...none }
        const days = linesOf(rows, total)
        return sendTexts(
          reply.type(json),
          objectText({ from, to }, 'days', days, () => ({ total }))
        )
      }
      return sendTexts(
        reply
          .type('text/csv; charset=utf-8')
          .header('content-disposition', `attachment; filename="usage-${from}-${to}.csv"`),
        csvOf(linesOf(rows, { ...none }))
      )
    }
  })
}

function readRange(query: Static<typeof Query>, now: number): { from: string; to: string } {
  const to = readDay('to', query.to) ?? now
  const from = readDay('from', query.from) ?? to - (usualDays - 1) * dayMs
  if (from > to) throw invalid('query.from', 'out_of_range', 'from must not be after to.')
  if (to - from >= maxDays * dayMs)
    throw invalid('query.from', 'out_of_range', `The range must have at most ${maxDays} days.`)
  return { from: dayOf(from), to: dayOf(to) }
}

function readDay(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const at = parseDay(text)
  if (at === undefined) throw invalid(`query.${name}`, 'invalid_format', `${name} must be a day such as 2026-01-31.`)
  return at
}

/**
 * One line for each day and key, summed over the surfaces, whose rows are adjacent.
 * @param total is increased by every line
 */
async function* linesOf(
  pages: AsyncIterable<readonly UsageRow[]>,
  total: typeof none
): AsyncGenerator<readonly Line[], void> {
  let open: Line | undefined
  for await (const rows of pages) {
    const lines: Line[] = []
    for (const { day, keyId, environment, surface, evaluations, characters } of rows) {
      if (open?.day !== day || open.key_id !== keyId) {
        if (open !== undefined) lines.push(open)
        open = { day, key_id: keyId, environment, ...none, by_surface: {} }
      }
      const isBillable = environment === 'live'
      for (const sum of [open, total]) {
        sum.evaluations += evaluations
        sum.characters += characters
        if (!isBillable) continue
        sum.billable_evaluations += evaluations
        sum.billable_characters += characters
      }
      open.by_surface[surface as keyof typeof open.by_surface] = evaluations as never
    }
    yield lines
  }
  if (open !== undefined) yield [open]
}

const none = { evaluations: 0, characters: 0, billable_evaluations: 0, billable_characters: 0 }

/** RFC 4180; ids, days and numbers need no quotes. */
async function* csvOf(pages: AsyncIterable<readonly Line[]>): AsyncGenerator<string, void> {
  const counts = Object.keys(none) as (keyof typeof none)[]
  const textOf = (row: readonly (string | number)[]) => `${row.join(',')}\r\n`
  let head = textOf(['day', 'key_id', 'environment', ...counts, ...surfaces])
  for await (const lines of pages) {
    const rows = lines.map((line) =>
      textOf([
        line.day,
        line.key_id,
        line.environment,
        ...counts.map((name) => line[name]),
        ...surfaces.map((surface) => (line.by_surface as Record<string, number>)[surface] ?? 0)
      ])
    )
    yield head + rows.join('')
    head = ''
  }
  if (head !== '') yield head
}

function acceptsCsv(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((range) => range.split(';', 1)[0]!.trim() === 'text/csv')
}
