/** `GET /api/v1/safety/metrics` (docs/api.md, section 5): totals and time series of a window, for charts. */
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Clock } from '../base/clock.js'
import { invalid } from '../base/errors.js'
import type { AlertSettings, Limits } from '../base/settings.js'
import { durationForms, isoTime, parseDuration } from '../base/units.js'
import { nameSchemas } from '../edge/doc-names.js'
import { managed } from '../edge/facts.js'
import { errorResponses, managedErrors } from '../edge/schemas.js'
import { type History, longestWindowMs } from '../observe/history.js'
import type { Stretch } from '../observe/layout.js'
import type { Presence } from '../observe/presence.js'
import { surfaces } from '../observe/record.js'
import { categories, decisions } from '../policy/evaluation.js'
import type { ReviewService } from '../review/review-service.js'
import { Thresholds, thresholds, WeekBefore, weekBefore } from './week-before.js'

/** The width of a chart in pixels. */
const maxPoints = 1000
/** Points by default, where no step is requested. */
const usualPoints = 60

const Duration = (description: string) => Type.String({ maxLength: 20, description, examples: ['1h'] })
const Query = Type.Object(
  {
    window: Type.Optional(Duration(`How far back, such as ${durationForms}; at most 7d. Default 1h.`)),
    step: Type.Optional(
      Duration(`The length of a point, in whole 10 s (windows up to 6h) or whole minutes; at most ${maxPoints} points.`)
    )
  },
  { additionalProperties: false }
)

const counts = (names: readonly string[]) => Type.Object(Object.fromEntries(names.map((name) => [name, Type.Number()])))
const milliseconds = Type.Union([Type.Number(), Type.Null()])
const Latency = Type.Object(
  { count: Type.Number(), p50: milliseconds, p90: milliseconds, p95: milliseconds, p99: milliseconds },
  { description: 'Milliseconds, within the width of the histogram’s buckets; null where nothing was measured.' }
)
const time = Type.String({ format: 'date-time' })
const SafetyMetrics = Type.Object({
  from: time,
  to: time,
  window_seconds: Type.Number(),
  step_seconds: Type.Number(),
  nodes: Type.Integer({ description: 'How many nodes serve now; all of them are counted here.' }),
  processes: Type.Integer({ description: 'How many processes serve on them.' }),
  evaluations: Type.Object({
    total: Type.Number(),
    by_decision: counts(decisions),
    by_surface: Type.Object(Object.fromEntries(surfaces.map((surface) => [surface, counts(decisions)])))
  }),
  categories: Type.Object(counts(categories).properties, { description: 'Matches of rules by category.' }),
  requests: Type.Object(
    {},
    { additionalProperties: Type.Number(), description: 'Answered requests by class of status.' }
  ),
  latency: Type.Object({ evaluation: Latency, overhead: Latency }),
  upstreams: Type.Array(
    Type.Object({
      name: Type.String(),
      requests: Type.Number(),
      failures: Type.Number({ description: 'No answer, or one of 5xx.' }),
      state: Type.Enum(['ok', 'failing', 'idle'], {
        description: 'failing: at least half of the window’s requests failed.'
      }),
      last_failure_at: Type.Union([time, Type.Null()])
    })
  ),
  reviews: Type.Object({ depth: Type.Number(), oldest_age_seconds: Type.Number() }),
  limits: Type.Object({ live_per_minute: Type.Number(), test_per_minute: Type.Number() }),
  thresholds: Thresholds,
  week_before: Type.Union([WeekBefore, Type.Null()], { description: 'Null where nothing ran then.' }),
  points: Type.Array(
    Type.Object(
      {
        at: time,
        processes: Type.Integer({
          description: 'Number of processes that counted then; 0: none ran, and nothing is known.'
        }),
        decisions: counts(decisions),
        categories: Type.Object({}, { additionalProperties: Type.Number() })
      },
      { additionalProperties: true }
    )
  )
})

export interface SafetyMetricsDeps {
  history: History
  presence: Pick<Presence, 'all'>
  reviews: Pick<ReviewService, 'backlog'>
  clock: Clock
  /** Names of the upstreams of the configuration in force. */
  upstreams: readonly string[]
  limits: Limits
  /** Settings of alerts. */
  alerts: Pick<AlertSettings, 'stops' | 'reviewsWaiting'>
}

nameSchemas({ Latency, SafetyMetrics })

export function registerSafetyMetrics(app: FastifyInstance, deps: SafetyMetricsDeps): void {
  const { history, presence, reviews, clock, upstreams, limits, alerts } = deps
  app.route<{ Querystring: Static<typeof Query> }>({
    method: 'GET',
    url: '/api/v1/safety/metrics',
    config: { access: managed('safety:metrics') },
    schema: {
      operationId: 'getSafetyMetrics',
      summary: 'Decisions, categories and latency of a window, and their course',
      description:
        'Covers every process of every node, from the storage: counts of other processes are up to ten seconds old. Percentiles come from one histogram of all measurements.',
      tags: ['operations'],
      querystring: Query,
      response: { 200: SafetyMetrics, ...errorResponses('validation_error', ...managedErrors) }
    },
    async handler(request) {
      const now = clock.now()
      const window = readWindow(request.query, now, history)
      const { total, points } = await history.read(window)
      const serving = (await presence.all()).filter(({ isSilent }) => !isSilent)
      const { depth, oldestAgeSeconds } = await reviews.backlog()
      const byDecision = sumSurfaces(total)
      return {
        from: isoTime(window.from),
        to: isoTime(window.to),
        window_seconds: (window.to - window.from) / 1000,
        step_seconds: window.step / 1000,
        nodes: new Set(serving.map(({ node }) => node)).size,
        processes: serving.length,
        evaluations: {
          total: Object.values(byDecision).reduce((sum, count) => sum + count, 0),
          by_decision: byDecision,
          by_surface: total.decisions
        },
        categories: total.categories,
        requests: total.statuses,
        latency: { evaluation: total.evaluation, overhead: total.overhead },
        upstreams: upstreams.map((name) => {
          const { requests = 0, failures = 0 } = total.upstreams[name] ?? {}
          const state = requests === 0 ? 'idle' : failures * 2 >= requests ? 'failing' : 'ok'
          const failedAt = history.lastFailures.get(name)
          return { name, requests, failures, state, last_failure_at: failedAt === undefined ? null : isoTime(failedAt) }
        }),
        reviews: { depth, oldest_age_seconds: oldestAgeSeconds },
        limits: { live_per_minute: limits.livePerMinute, test_per_minute: limits.testPerMinute },
        thresholds: await thresholds(history, alerts, now),
        week_before: await weekBefore(history, window, now),
        points: points.map(({ at, processes, ...point }) => ({
          at: isoTime(at),
          processes,
          decisions: sumSurfaces(point),
          categories: Object.fromEntries(Object.entries(point.categories).filter(([, count]) => count > 0)),
          requests: point.statuses,
          evaluation: point.evaluation,
          overhead: point.overhead
        }))
      }
    }
  })
}

/** Whole steps; the last one is unfinished. */
function readWindow(query: Static<typeof Query>, now: number, history: History) {
  const window = readDuration('window', query.window ?? '1h')
  if (window > longestWindowMs) throw invalid('query.window', 'out_of_range', 'window must be at most 7d.')
  const unit = history.stepOf(window)
  const usual = Math.ceil(window / usualPoints / unit) * unit
  const step = query.step === undefined ? usual : readDuration('step', query.step)
  if (step % unit !== 0) {
    throw invalid(
      'query.step',
      'invalid_format',
      `step must be a multiple of ${unit / 1000}s for a window of this length.`
    )
  }
  if (window / step > maxPoints) {
    throw invalid('query.step', 'out_of_range', `step must leave at most ${maxPoints} points in the window.`)
  }
  const to = Math.ceil((now + 1) / step) * step
  return { from: to - Math.ceil(window / step) * step, to, step }
}

function readDuration(name: string, text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined || ms === 0) {
    throw invalid(`query.${name}`, 'invalid_format', `${name} must be a duration such as ${durationForms}.`)
  }
  return ms
}

function sumSurfaces({ decisions: bySurface }: Stretch): Record<string, number> {
  return Object.fromEntries(
    decisions.map((decision) => [
      decision,
      Object.values(bySurface).reduce((sum, counts) => sum + counts[decision]!, 0)
    ])
  )
}
