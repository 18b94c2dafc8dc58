/**
 * The gateway's own memory of its metrics, for charts without a Prometheus: what the counters grew by, sampled every ten
 * seconds, in steps of ten seconds for six hours and of a minute for seven days. It samples what is counted anyway, so a
 * request pays nothing for it. Bounded (9 MB when full) and kept in memory: a restart begins anew.
 */
import type { Clock } from '../clock.js'
import { categories, decisions } from '../policy/evaluation.js'
import type { Metrics } from './metrics.js'
import { surfaces } from './record.js'
import { Ring } from './ring.js'
import type { HistogramChild, HistogramSeries } from './series.js'

const sampleMs = 10_000
const fine = { stepMs: sampleMs, slots: 2160 }
const coarse = { stepMs: 60_000, slots: 10_080 }
/** The longest window that is remembered, ms. */
export const longestWindowMs = coarse.stepMs * coarse.slots
/** Upstreams with counts of their own; the configuration rarely names more than a handful. */
const maxUpstreams = 16
const statusClasses = ['2xx', '3xx', '4xx', '5xx'] as const

/** Where each count lies in a row. */
function layoutOf(evaluationBuckets: number, overheadBuckets: number) {
  const sizes = {
    decisions: surfaces.length * decisions.length,
    categories: categories.length,
    statuses: statusClasses.length,
    evaluation: evaluationBuckets,
    overhead: overheadBuckets,
    upstreams: maxUpstreams * 2
  }
  let width = 0
  const at = {} as Record<keyof typeof sizes, number>
  for (const [name, size] of Object.entries(sizes) as [keyof typeof sizes, number][]) {
    at[name] = width
    width += size
  }
  return { at, width }
}

/** What one stretch of time counted. */
export interface Stretch {
  /** Evaluations by surface and decision. */
  decisions: Record<string, Record<string, number>>
  /** Matches of rules by category. */
  categories: Record<string, number>
  /** Answered requests by class of status. */
  statuses: Record<string, number>
  evaluation: Latency
  overhead: Latency
  upstreams: Record<string, { requests: number; failures: number }>
}

export interface Latency {
  count: number
  /** Milliseconds, interpolated within the buckets of the histogram; null where nothing was measured. */
  p50: number | null
  p90: number | null
  p95: number | null
  p99: number | null
}

export interface History {
  /** Takes what was counted since the last sample; a timer does so by itself. */
  sample(): void
  /** @param window ms; `step` is a multiple of the steps that are remembered */
  read(window: { from: number; to: number; step: number }): { total: Stretch; points: (Stretch & { at: number })[] }
  /** The steps that are remembered of a window of this length, ms. */
  stepOf(windowMs: number): number
  /** Wall time of the last failed request to each upstream, ms. */
  readonly lastFailures: ReadonlyMap<string, number>
  close(): void
}

type Counted = Pick<
  Metrics,
  'evaluations' | 'ruleMatches' | 'requests' | 'evaluationDuration' | 'overhead' | 'upstreamRequests'
>

export function createHistory(metrics: Counted, clock: Clock): History {
  const { at, width } = layoutOf(metrics.evaluationDuration.bounds.length + 1, metrics.overhead.bounds.length + 1)
  const rings = [new Ring({ ...fine, width }), new Ring({ ...coarse, width })] as const
  const upstreams: string[] = []
  const lastFailures = new Map<string, number>()
  let before = new Float64Array(width)
  let sampledAt = clock.now()

  function upstreamAt(name: string): number {
    const known = upstreams.indexOf(name)
    if (known >= 0 || upstreams.length === maxUpstreams) return known
    return upstreams.push(name) - 1
  }

  /** Everything counted since the process began. */
  function countsNow(): Float64Array<ArrayBuffer> {
    const row = new Float64Array(width)
    const add = (part: keyof typeof at, index: number, by: number) => {
      if (index >= 0) row[at[part] + index]! += by
    }
    metrics.evaluations.each(({ value }, surface, decision) =>
      add(
        'decisions',
        surfaces.indexOf(surface as never) * decisions.length + decisions.indexOf(decision as never),
        value
      )
    )
    metrics.ruleMatches.each(({ value }, _rule, category) =>
      add('categories', categories.indexOf(category as never), value)
    )
    metrics.requests.each(({ value }, _route, status) => add('statuses', statusClasses.indexOf(status as never), value))
    for (const [part, series] of [
      ['evaluation', metrics.evaluationDuration],
      ['overhead', metrics.overhead]
    ] as const) {
      series.each(({ counts }: HistogramChild) => {
        for (const [bucket, count] of counts.entries()) add(part, bucket, count)
      })
    }
    metrics.upstreamRequests.each(({ value }, name, status) => {
      const index = upstreamAt(name)
      if (index < 0) return
      add('upstreams', index * 2, value)
      if (status === '5xx') add('upstreams', index * 2 + 1, value)
    })
    return row
  }

  function sample(): void {
    const now = clock.now()
    const counts = countsNow()
    const grown = counts.map((count, i) => count - before[i]!)
    // The middle of the stretch: a timer that is a little late must not move its counts into the next step.
    const middle = (sampledAt + now) / 2
    for (const ring of rings) ring.add(middle, grown)
    for (const [index, name] of upstreams.entries()) {
      if (grown[at.upstreams + index * 2 + 1]! > 0) lastFailures.set(name, now)
    }
    before = counts
    sampledAt = now
  }

  function stretchOf(row: Float64Array): Stretch {
    const named = (part: keyof typeof at, names: readonly string[], from = 0) =>
      Object.fromEntries(names.map((name, i) => [name, row[at[part] + from + i]!]))
    return {
      decisions: Object.fromEntries(
        surfaces.map((surface, i) => [surface, named('decisions', decisions, i * decisions.length)])
      ),
      categories: named('categories', categories),
      statuses: named('statuses', statusClasses),
      evaluation: latencyOf(metrics.evaluationDuration, row, at.evaluation),
      overhead: latencyOf(metrics.overhead, row, at.overhead),
      upstreams: Object.fromEntries(
        upstreams.map((name, i) => {
          const [requests, failures] = row.subarray(at.upstreams + i * 2)
          return [name, { requests: requests!, failures: failures! }]
        })
      )
    }
  }

  const timer = setInterval(sample, sampleMs)
  timer.unref()
  const ringOf = (windowMs: number) => (windowMs <= fine.stepMs * fine.slots ? rings[0] : rings[1])
  return {
    sample,
    stepOf: (windowMs) => ringOf(windowMs).stepMs,
    read({ from, to, step }) {
      sample()
      const ring = ringOf(to - from)
      const points: (Stretch & { at: number })[] = []
      for (let begin = from; begin < to; begin += step) {
        points.push({ at: begin, ...stretchOf(ring.sum(begin, Math.min(begin + step, to))) })
      }
      return { total: stretchOf(ring.sum(from, to)), points }
    },
    lastFailures,
    close: () => clearInterval(timer)
  }
}

function latencyOf({ bounds }: HistogramSeries<readonly string[]>, row: Float64Array, from: number): Latency {
  const counts = row.subarray(from, from + bounds.length + 1)
  const count = counts.reduce((sum, each) => sum + each, 0)
  const at = (share: number) => (count === 0 ? null : quantile(bounds, counts, count * share))
  return { count, p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99) }
}

/** As Prometheus' histogram_quantile: linear within the bucket; beyond the last bound, that bound. Seconds in, ms out. */
function quantile(bounds: readonly number[], counts: Float64Array, rank: number): number {
  let below = 0
  for (const [bucket, bound] of bounds.entries()) {
    const inside = counts[bucket]!
    if (inside > 0 && below + inside >= rank) {
      const floor = bucket === 0 ? 0 : bounds[bucket - 1]!
      return roundMs(floor + (bound - floor) * ((rank - below) / inside))
    }
    below += inside
  }
  return roundMs(bounds.at(-1)!)
}

function roundMs(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e3
}
