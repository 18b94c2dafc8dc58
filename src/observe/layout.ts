/**
 * The layout of the metrics history: a row of numbers in memory, and names in the storage, so that a release with new
 * counters or other buckets can still read older rows.
 */
import { categories, decisions } from '../policy/evaluation.js'
import type { Metrics } from './metrics.js'
import { surfaces } from './record.js'

/** Upstreams with counts of their own; the configuration rarely names more than a handful. */
const maxUpstreams = 16
const statusClasses = ['2xx', '3xx', '4xx', '5xx'] as const
const histograms = ['evaluation', 'overhead'] as const

export type Counted = Pick<
  Metrics,
  'evaluations' | 'ruleMatches' | 'requests' | 'evaluationDuration' | 'overhead' | 'upstreamRequests'
>

/** Counts of one stretch of time. */
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

export interface Layout {
  readonly width: number
  /** Everything counted since the process began. */
  now(): Uint32Array
  stretchOf(row: ArrayLike<number>): Stretch
  /** The counts above 0, by name. */
  toNames(row: ArrayLike<number>): Record<string, number>
  fromNames(counts: Readonly<Record<string, number>>): Uint32Array
  /** The upstreams of which a request failed. */
  failing(row: ArrayLike<number>): string[]
}

export function createLayout(metrics: Counted): Layout {
  const bounds = { evaluation: metrics.evaluationDuration.bounds, overhead: metrics.overhead.bounds }
  const bucketNames = (name: (typeof histograms)[number]) =>
    [...bounds[name], Number.POSITIVE_INFINITY].map((bound) => `${name} ${bound}`)
  const names = [
    ...surfaces.flatMap((surface) => decisions.map((decision) => `decision ${surface} ${decision}`)),
    ...categories.map((category) => `category ${category}`),
    ...statusClasses.map((status) => `status ${status}`),
    ...histograms.flatMap(bucketNames)
  ]
  const places = new Map(names.map((name, place) => [name, place]))
  const firstUpstream = names.length
  const upstreams: string[] = []

  /** Undefined for an unknown name. */
  function placeOf(name: string): number | undefined {
    const known = places.get(name)
    if (known !== undefined) return known
    const [kind, ...rest] = name.split(' ')
    if ((kind === 'requests' || kind === 'failures') && upstreams.length < maxUpstreams) {
      const upstream = rest.join(' ')
      places.set(`requests ${upstream}`, firstUpstream + upstreams.length * 2)
      places.set(`failures ${upstream}`, firstUpstream + upstreams.length * 2 + 1)
      upstreams.push(upstream)
      return places.get(name)
    }
    const histogram = histograms.find((each) => each === kind)
    // A bucket of another release: its counts belong to our next wider bucket.
    if (histogram === undefined) return undefined
    const wider = [...bounds[histogram], Number.POSITIVE_INFINITY].find((bound) => bound >= Number(rest[0]))
    return places.get(`${histogram} ${wider}`)
  }
  const add = (row: Uint32Array, name: string, by: number) => {
    const place = placeOf(name)
    if (place !== undefined) row[place]! += by
  }
  const at = (row: ArrayLike<number>, name: string) => row[places.get(name)!]!

  function latencyOf(row: ArrayLike<number>, histogram: (typeof histograms)[number]): Latency {
    const counts = bucketNames(histogram).map((name) => at(row, name))
    const count = counts.reduce((sum, each) => sum + each, 0)
    const share = (part: number) => (count === 0 ? null : quantile(bounds[histogram], counts, count * part))
    return { count, p50: share(0.5), p90: share(0.9), p95: share(0.95), p99: share(0.99) }
  }

  return {
    width: firstUpstream + maxUpstreams * 2,
    now() {
      const row = new Uint32Array(firstUpstream + maxUpstreams * 2)
      metrics.evaluations.each(({ value }, surface, decision) => add(row, `decision ${surface} ${decision}`, value))
      metrics.ruleMatches.each(({ value }, _rule, category) => add(row, `category ${category}`, value))
      metrics.requests.each(({ value }, _route, status) => add(row, `status ${status}`, value))
      metrics.upstreamRequests.each(({ value }, upstream, status) => {
        add(row, `requests ${upstream}`, value)
        if (status === '5xx') add(row, `failures ${upstream}`, value)
      })
      for (const [histogram, series] of [
        ['evaluation', metrics.evaluationDuration],
        ['overhead', metrics.overhead]
      ] as const) {
        const first = places.get(`${histogram} ${series.bounds[0]}`)!
        series.each(({ counts }) => {
          for (const [bucket, count] of counts.entries()) row[first + bucket]! += count
        })
      }
      return row
    },
    stretchOf: (row) => ({
      decisions: Object.fromEntries(
        surfaces.map((surface) => [
          surface,
          Object.fromEntries(decisions.map((decision) => [decision, at(row, `decision ${surface} ${decision}`)]))
        ])
      ),
      categories: Object.fromEntries(categories.map((category) => [category, at(row, `category ${category}`)])),
      statuses: Object.fromEntries(statusClasses.map((status) => [status, at(row, `status ${status}`)])),
      evaluation: latencyOf(row, 'evaluation'),
      overhead: latencyOf(row, 'overhead'),
      upstreams: Object.fromEntries(
        upstreams.map((name) => [
          name,
          { requests: at(row, `requests ${name}`), failures: at(row, `failures ${name}`) }
        ])
      )
    }),
    toNames: (row) =>
      Object.fromEntries([...places].flatMap(([name, place]) => (row[place]! > 0 ? [[name, row[place]!]] : []))),
    fromNames(counts) {
      const row = new Uint32Array(firstUpstream + maxUpstreams * 2)
      for (const [name, count] of Object.entries(counts)) add(row, name, count)
      return row
    },
    failing: (row) => upstreams.filter((name) => at(row, `failures ${name}`) > 0)
  }
}

/** As Prometheus' histogram_quantile: linear within the bucket; beyond the last bound, that bound. Seconds in, ms out. */
function quantile(bounds: readonly number[], counts: readonly number[], rank: number): number {
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
