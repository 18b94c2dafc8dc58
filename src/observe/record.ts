/** Counting one evaluation: the same on every surface, so that dashboards add up. */
import type { Evaluation } from '../policy/evaluation.js'
import type { Metrics } from './metrics.js'

export type Surface = 'evaluate' | 'moderations' | 'chat' | 'answer'

export function recordEvaluation(metrics: Metrics, surface: Surface, evaluation: Evaluation): void {
  metrics.evaluations.of(surface, evaluation.decision).inc()
  metrics.evaluationDuration.of(surface).observe(evaluation.decision_time_ms / 1000)
  for (const { rule, category } of evaluation.detections) metrics.ruleMatches.of(rule, category).inc()
}
