/** What the API answers about constitutions, and of dry runs. */
import type { Category, Decision, Detection } from './types'

export interface Constitution {
  name: string
  label: string | null
  version: number | null
  origin: string | null
  activated_at: string | null
  activated_by: string | null
  in_force: boolean
  extends: string | null
  versions: number
  latest_version: number
}
export interface Version {
  name: string
  version: number
  label: string
  length: number
  origin: string
  note: string | null
  created_at: string
  created_by: string | null
  active: boolean
}

/** A verdict of a dry run. */
export interface Outcome {
  risk_score: number
  decision: Decision
  matched_rules: string[]
  detections: Detection[]
  decision_time_ms: number
  scores: Record<Category, number>
  policy: string
  missing_context?: string[]
}
export interface Explanation {
  summary: string[]
  thresholds: { middle: number; high: number }
  views: { layer: string; length: number; text?: string; matches: { rule: string; text?: string; weight: number }[] }[]
  rules: { rule: string; category: Category; weight: number; score: number; context: string; context_keys: string[] }[]
}
export interface TrialText {
  input_text: string
  id?: string
  context?: Record<string, unknown>
  role?: string
  history?: string[]
}
export interface TrialRequest {
  texts: TrialText[]
  source?: string
  version?: number
  explain?: boolean
}
export interface Trial {
  active: { label: string } | null
  candidate: { label: string } | null
  results: {
    index: number
    active?: Outcome | null
    candidate?: Outcome | null
    changed: boolean
    explanation?: { active?: Explanation; candidate?: Explanation }
  }[]
  diff: {
    changed: number
    unchanged: number
    stricter: number
    milder: number
    transitions: { from: string; to: string; count: number }[]
    rules: { rule: string; active: number; candidate: number }[]
  } | null
}
