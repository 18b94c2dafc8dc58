/** What of an explanation is kept beside a verdict: names and numbers, bounded, never a text. */
import type { Category, Decision } from '../base/decision.js'

/** The next band in a direction, and how far the score is from it; null where no band there decides otherwise. */
export type NextBand = { decision: Decision; by: number } | null

export interface RuleFlip {
  /** Without these rules, the decision would be this. The session is taken as it stands. */
  without: string[]
  decision: Decision
  risk_score: number
}

/** What the context did to a rule: nothing, settled it, sharpened it, or left it open for want of a key. */
export type ContextOutcome = 'none' | 'permit' | 'forbid' | 'open'

export interface KeptExplanation {
  thresholds: { middle: number; high: number }
  /** Those in which anything counted. */
  categories: { category: Category; score: number; decision: Decision; to_milder: NextBand; to_stricter: NextBand }[]
  /** The strongest. */
  rules: { rule: string; category: Category; score: number; context: ContextOutcome }[]
  /** Absent where none was found, and where more was found in the texts than is weighed again. */
  flips?: RuleFlip[]
  /** The keys of the context that could settle it. */
  missing_context?: string[]
}
