/** `GET /api/v1/billing/usage` (CONTRACT section 5): what each key had judged, by day; test keys cost nothing. */
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Clock } from '../clock.js'
import { invalid } from '../errors.js'
import { surfaces } from '../observe/record.js'
import type { UsageRow, UsageStore } from '../storage/usage-store.js'
import { callerOf, managed } from './facts.js'
import { errorResponses, managedErrors } from './schemas.js'

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
  total: Type.Object(Counts),
  days: Type.Array(
    Type.Object({
      day: Type.String(),
      key_id: Type.String(),
      environment: Type.Enum(['live', 'test']),
      ...Counts,
      by_surface: Type.Object({}, { additionalProperties: Type.Integer(), description: 'Evaluations by surface.' })
    })
  )
})
type Line = Static<typeof Usage>['days'][number]

export function registerUsage(app: FastifyInstance, usage: UsageStore, clock: Clock): void {
  app.route<{ Querystring: Static<typeof Query> }>({
    method: 'GET',
    url: '/api/v1/billing/usage',
    config: { access: managed('billing:read') },
    schema: {
      summary: 'Evaluations and characters per key and day',
      description: 'Counted when a verdict is given, on every surface; exact, within 100 ms.',
      tags: ['billing'],
      querystring: Query,
      response: { 200: Usage, ...errorResponses('validation_error', ...managedErrors) }
    },
    async handler(request, reply) {
      const { from, to } = readRange(request.query, clock.now())
      const rows = await usage.read(callerOf(request).accountId, { from, to, keyId: request.query.key_id })
      const days = linesOf(rows)
      const wantsCsv =
        request.query.format === 'csv' || (request.query.format === undefined && acceptsCsv(request.headers.accept))
      reply.header('vary', 'accept')
      if (!wantsCsv) return { from, to, total: sum(days), days }
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="usage-${from}-${to}.csv"`)
        .serializer(String)
        .send(csvOf(days))
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
  const at = Date.parse(text)
  // The parser turns 30 February into 2 March.
  if (Number.isNaN(at) || dayOf(at) !== text)
    throw invalid(`query.${name}`, 'invalid_format', `${name} must be a day such as 2026-01-31.`)
  return at
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** One line for each day and key, the surfaces added up. */
function linesOf(rows: readonly UsageRow[]): Line[] {
  const lines = new Map<string, Line>()
  for (const { day, keyId, environment, surface, evaluations, characters } of rows) {
    const at = `${day} ${keyId}`
    const line = lines.get(at) ?? { day, key_id: keyId, environment, ...none, by_surface: {} }
    lines.set(at, line)
    line.evaluations += evaluations
    line.characters += characters
    if (environment === 'live') {
      line.billable_evaluations += evaluations
      line.billable_characters += characters
    }
    line.by_surface[surface as keyof typeof line.by_surface] = evaluations as never
  }
  return [...lines.values()]
}

const none = { evaluations: 0, characters: 0, billable_evaluations: 0, billable_characters: 0 }

function sum(lines: readonly Line[]): Static<typeof Usage>['total'] {
  return lines.reduce(
    (total, line) => ({
      evaluations: total.evaluations + line.evaluations,
      characters: total.characters + line.characters,
      billable_evaluations: total.billable_evaluations + line.billable_evaluations,
      billable_characters: total.billable_characters + line.billable_characters
    }),
    none
  )
}

/** RFC 4180; ids, days and numbers need no quotes. */
function csvOf(lines: readonly Line[]): string {
  const counts = Object.keys(none) as (keyof typeof none)[]
  const head = ['day', 'key_id', 'environment', ...counts, ...surfaces]
  const rows = lines.map((line) => [
    line.day,
    line.key_id,
    line.environment,
    ...counts.map((name) => line[name]),
    ...surfaces.map((surface) => (line.by_surface as Record<string, number>)[surface] ?? 0)
  ])
  return [head, ...rows].map((row) => `${row.join(',')}\r\n`).join('')
}

function acceptsCsv(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((range) => range.split(';', 1)[0]!.trim() === 'text/csv')
}
