/** A verdict as callers see it. */
import type { Evaluation } from '../evaluation.js'
import type { Verdict } from './judge.js'

/** @param call.ms how long it took */
export function evaluationOf(verdict: Verdict, call: { label: string; id: string; ms: number }): Evaluation {
  const evaluation: Evaluation = {
    risk_score: verdict.riskScore,
    decision: verdict.decision,
    is_blocked: verdict.decision === 'forbid',
    matched_rules: verdict.matchedRules,
    detections: verdict.detections,
    decision_time_ms: Math.round(call.ms * 1000) / 1000,
    scores: verdict.scores,
    evaluation_id: call.id,
    policy: call.label
  }
  if (verdict.decision === 'depends') evaluation.missing_context = verdict.missingContext
  return evaluation
}
