/** Merges the metrics of all workers into one page; counts of dead workers are kept. */
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { CounterSeries } from '../observe/series.js'

/** Metrics that only grow, and so must not fall when a worker ends. */
const counts = new Set(['counter', 'histogram'])

/** One worker's registry in transit. */
export type Snapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

export interface WorkerMetrics {
  readonly contentType: string
  /** @param snapshots by worker */
  page(snapshots: ReadonlyMap<number, Snapshot>): Promise<string>
  /** Adds the last snapshot of an ended worker to the sum. */
  departed(worker: number): void
  readonly restarts: Counter
  readonly requests: CounterSeries<readonly ['route', 'status_class']>
}

export function createWorkerMetrics(gauges: { workers(): number; sessions(): number }): WorkerMetrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name: `sluicegate_${name}`,
      help,
      registers,
      aggregator: 'max',
      collect() {
        this.set(value())
      }
    })
  gauge('workers', 'Worker processes that serve.', gauges.workers)
  gauge('sessions_active', 'Sessions whose recent turns are remembered.', gauges.sessions)
  const restarts = new Counter({
    name: 'sluicegate_worker_restarts_total',
    help: 'Workers that ended without being asked to, each replaced.',
    registers
  })
  const requests = new CounterSeries(
    {
      name: 'sluicegate_requests_total',
      help: 'Answered requests by route.',
      labelNames: ['route', 'status_class'] as const
    },
    registry
  )
  const last = new Map<number, Snapshot>()
  /** The sum of all ended workers, so that a crash does not look like a counter reset. */
  let gone: Promise<Snapshot> = Promise.resolve([])

  return {
    contentType: registry.contentType,
    restarts,
    requests,
    async page(snapshots) {
      for (const [worker, snapshot] of snapshots) last.set(worker, snapshot)
      const own = await registry.getMetricsAsJSON()
      return AggregatorRegistry.aggregate([own, ...last.values(), await gone]).metrics()
    },
    departed(worker) {
      const counted = (last.get(worker) ?? []).filter(
        ({ type, aggregator }) => counts.has(String(type)) && aggregator === 'sum'
      )
      last.delete(worker)
      gone = gone.then((sum) => AggregatorRegistry.aggregate([sum, counted]).getMetricsAsJSON())
    }
  }
}
