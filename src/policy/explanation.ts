/** The stored explanation of a verdict: names and numbers of bounded size, never a text. */
import type { Category, Decision } from '../base/decision.js'

/** The next band in a direction, and its distance from the score; null where no band there changes the decision. */
export type NextBand = { decision: Decision; by: number } | null

export interface RuleFlip {
  /** The rules without which the decision would be another, with the session unchanged. */
  without: string[]
  decision: Decision
  risk_score: number
}

/** The effect of the context on a rule: none, settled, sharpened, or left open because a key is missing. */
export type ContextOutcome = 'none' | 'permit' | 'forbid' | 'open'

export interface KeptExplanation {
  thresholds: { middle: number; high: number }
  /** The categories in which anything counted. */
  categories: { category: Category; score: number; decision: Decision; to_milder: NextBand; to_stricter: NextBand }[]
  /** The strongest rules. */
  rules: { rule: string; category: Category; score: number; context: ContextOutcome }[]
  /** Absent where none was found, and where the texts had too many matches to weigh again. */
  flips?: RuleFlip[]
  /** The keys of the context that could settle it. */
  missing_context?: string[]
}
