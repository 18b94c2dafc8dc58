/** The course of the metrics in this process. */
import type { MetricsRow, MetricsStore } from '../contracts/metrics-store.js'

export function createMemoryMetrics(call: <T>(work: () => T) => Promise<T>): MetricsStore {
  const rows = new Map<string, MetricsRow>()
  const ofStep = (stepMs: number) => [...rows.values()].filter((row) => row.stepMs === stepMs)
  const compare = (a: Pick<MetricsRow, 'at' | 'process'>, b: Pick<MetricsRow, 'at' | 'process'>) =>
    a.at - b.at || (a.process < b.process ? -1 : a.process > b.process ? 1 : 0)

  return {
    put: (given) =>
      call(() => {
        for (const row of given) rows.set(`${row.stepMs} ${row.at} ${row.process}`, structuredClone(row))
      }),
    read: (stepMs, { from, after, limit }) =>
      call(() => {
        const page = ofStep(stepMs).filter((row) => row.at >= from && (after === undefined || compare(row, after) > 0))
        return structuredClone(page.sort(compare).slice(0, limit))
      }),
    changed: (stepMs, since) =>
      call(() => {
        const begun = ofStep(stepMs).flatMap(({ at, writtenAt }) => (writtenAt >= since ? [at] : []))
        return begun.length === 0 ? undefined : begun.reduce((a, b) => Math.min(a, b))
      }),
    prune: (stepMs, before) =>
      call(() => {
        const old = [...rows].filter(([, row]) => row.stepMs === stepMs && row.at < before)
        for (const [key] of old) rows.delete(key)
        return old.length
      })
  }
}
