import type { MetricsRow } from '../../contracts/metrics-store.js'
import type { ProcessRow } from '../../contracts/process-store.js'

export interface MetricsTable {
  process: string
  step_ms: number
  at: number
  counts: string
  written_at: number
}

export interface ProcessesTable {
  process: string
  node: string
  started_at: number
  seen_at: number
  facts: string
}

export function fromMetrics({ process, stepMs, at, counts, writtenAt }: MetricsRow): MetricsTable {
  return { process, step_ms: stepMs, at, counts: JSON.stringify(counts), written_at: writtenAt }
}

export function toMetrics({ process, step_ms, at, counts, written_at }: MetricsTable): MetricsRow {
  return { process, stepMs: step_ms, at, counts: JSON.parse(counts), writtenAt: written_at }
}

export function fromProcess({ process, node, startedAt, seenAt, facts }: ProcessRow): ProcessesTable {
  return { process, node, started_at: startedAt, seen_at: seenAt, facts: JSON.stringify(facts) }
}

export function toProcess({ process, node, started_at, seen_at, facts }: ProcessesTable): ProcessRow {
  return { process, node, startedAt: started_at, seenAt: seen_at, facts: JSON.parse(facts) }
}
