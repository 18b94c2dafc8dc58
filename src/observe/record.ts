/** Counting one evaluation: the same on every surface, so that dashboards add up. */
import type { Evaluation } from '../policy/evaluation.js'
import type { Log } from './log.js'
import type { Metrics } from './metrics.js'

export type Surface = 'evaluate' | 'moderations' | 'chat' | 'answer'

export function recordEvaluation(metrics: Metrics, surface: Surface, evaluation: Evaluation): void {
  metrics.evaluations.of(surface, evaluation.decision).inc()
  metrics.evaluationDuration.of(surface).observe(evaluation.decision_time_ms / 1000)
  for (const { rule, category } of evaluation.detections) metrics.ruleMatches.of(rule, category).inc()
}

/** What is counted and told of the judges that constitutions escalate to. */
export function judgeReport(metrics: Metrics, log: Log) {
  return {
    request(judge: string, outcome: string) {
      metrics.judgeRequests.inc({ judge, outcome })
    },
    duration(judge: string, seconds: number) {
      metrics.judgeDuration.observe({ judge }, seconds)
    },
    breaker(judge: string, state: string) {
      if (state === 'open') log.warn({ judge }, 'the judge keeps failing and is left alone for a while')
    }
  }
}
