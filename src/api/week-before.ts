/** Comparison data for a chart's window: the same window a week before, and the thresholds of alerts. */
import Type, { type Static } from 'typebox'
import type { AlertSettings } from '../base/settings.js'
import { isoTime } from '../base/units.js'
import { named } from '../edge/doc-names.js'
import { countStops } from '../notices/conditions.js'
import { stopWindows, unusualBeyond, usualShare } from '../notices/stops.js'
import type { History } from '../observe/history.js'

const weekMs = 7 * 86_400_000
const minuteMs = 60_000

const time = Type.String({ format: 'date-time' })
const share = Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()])
export const WeekBefore = named(
  'WeekBefore',
  Type.Object(
    {
      from: time,
      to: time,
      covered: Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'Share of points with data: below 1, the gateway had stopped or was new.'
      }),
      evaluations: Type.Object(
        { total: Type.Number(), stopped: Type.Number() },
        { description: 'Until the same moment of the week as now.' }
      ),
      p50: Type.Union([Type.Number(), Type.Null()], { description: 'Of evaluations, in milliseconds.' }),
      points: Type.Array(
        Type.Object({
          known: Type.Boolean(),
          evaluations: Type.Number(),
          stopped: Type.Number({ description: 'Any decision but permit.' }),
          p50: Type.Union([Type.Number(), Type.Null()])
        }),
        { description: 'One for each point of the window. Points shorter than a minute have their part of it.' }
      )
    },
    { description: 'The same window of the week before.' }
  )
)

export const Thresholds = named(
  'Thresholds',
  Type.Object({
    stopped: Type.Union(
      [
        Type.Object(
          { usual: Type.Number({ minimum: 0, maximum: 1 }), low: share, high: share },
          {
            description: 'The usual share of stopped content at this time of day, and the threshold of an unusual one.'
          }
        ),
        Type.Null()
      ],
      { description: 'Null until enough is known, or where it is not watched.' }
    ),
    reviews_waiting: Type.Union([Type.Object({ count: Type.Integer(), age_seconds: Type.Number() }), Type.Null()])
  })
)

export interface Window {
  from: number
  to: number
  step: number
}

/**
 * @param now only the elapsed part of the last point counts in the sums
 * @returns null where nothing ran then
 */
export async function weekBefore(
  history: Pick<History, 'read'>,
  { from, to, step }: Window,
  now: number
): Promise<Static<typeof WeekBefore> | null> {
  const isFiner = step % minuteMs !== 0
  // For that time only minutes are stored.
  const then = isFiner
    ? {
        from: Math.floor((from - weekMs) / minuteMs) * minuteMs,
        to: Math.ceil((to - weekMs) / minuteMs) * minuteMs,
        step: minuteMs
      }
    : { from: from - weekMs, to: to - weekMs, step }
  const { total, points } = await history.read(then)
  const known = points.filter(({ processes }) => processes > 0).length
  if (known === 0) return null
  const sums = points.map((point) => ({ ...countStops(point), known: point.processes > 0, p50: point.evaluation.p50 }))
  const part = Math.min(1, step / then.step)
  const inSteps = Array.from({ length: Math.ceil((to - from) / step) }, (_, i) => {
    const { evaluations, stopped, ...rest } = sums[Math.floor((from - weekMs + i * step - then.from) / then.step)]!
    return { ...rest, evaluations: evaluations * part, stopped: stopped * part }
  })
  const sum = (of: 'evaluations' | 'stopped') =>
    inSteps.reduce((sum, point, i) => sum + point[of] * Math.min(1, Math.max(0, (now - from - i * step) / step)), 0)
  return {
    from: isoTime(from - weekMs),
    to: isoTime(to - weekMs),
    covered: known / points.length,
    evaluations: { total: hundredths(sum('evaluations')), stopped: hundredths(sum('stopped')) },
    p50: total.evaluation.p50,
    points: inSteps.map(({ evaluations, stopped, ...rest }) => ({
      ...rest,
      evaluations: hundredths(evaluations),
      stopped: hundredths(stopped)
    }))
  }
}

export async function thresholds(
  history: Pick<History, 'totals'>,
  { stops, reviewsWaiting }: Pick<AlertSettings, 'stops' | 'reviewsWaiting'>,
  now: number
): Promise<Static<typeof Thresholds>> {
  const days = stops === undefined ? [] : await history.totals(stopWindows(now, stops.windowMs).slice(1))
  const usual = stops === undefined ? undefined : usualShare(days.map(countStops), stops.least)
  const { low = null, high = null } = stops === undefined || usual === undefined ? {} : unusualBeyond(usual, stops)
  return {
    stopped: usual === undefined ? null : { usual, low, high },
    reviews_waiting:
      reviewsWaiting === undefined ? null : { count: reviewsWaiting.count, age_seconds: reviewsWaiting.ageMs / 1000 }
  }
}

function hundredths(count: number): number {
  return Math.round(count * 100) / 100
}
