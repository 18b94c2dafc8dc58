/** What a verdict has to hold to be one. */
import { decisions } from '../evaluation.js'
import type { Verdict } from './judge.js'

/** A verdict may come from another thread: what is not in the words of a verdict decides nothing. */
export function isVerdict({ decision, riskScore, ownRisk, scores, ...lists }: Verdict): boolean {
  return (
    decisions.includes(decision) &&
    isShare(riskScore) &&
    isShare(ownRisk) &&
    typeof scores === 'object' &&
    scores !== null &&
    (lists.questions === undefined || Array.isArray(lists.questions)) &&
    [lists.matchedRules, lists.missingContext, lists.categories, lists.detections, lists.rules].every(Array.isArray)
  )
}

const isShare = (value: number) => value >= 0 && value <= 1
