/** Counting one evaluation: the same on every surface, so that dashboards add up. */
import type { Evaluation } from '../policy/evaluation.js'
import type { Metrics } from './metrics.js'

export type Surface = 'evaluate' | 'moderations' | 'chat' | 'answer'

export function recordEvaluation(metrics: Metrics, surface: Surface, evaluation: Evaluation): void {
  metrics.evaluations.inc({ surface, decision: evaluation.decision })
  metrics.evaluationDuration.observe({ surface }, evaluation.decision_time_ms / 1000)
  for (const { rule, category } of evaluation.detections) metrics.ruleMatches.inc({ rule, category })
}
