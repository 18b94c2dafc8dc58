/** Which rules count more than they would by themselves: by what came before in the session. */
import type { CompiledRule, Policy } from '../match/compile.js'
import { decide, type Judgement } from './decide.js'
import type { RuleScore } from './score.js'

/** The rules of categories that only the session's risk made stricter than the turn itself is. */
export function sharpened(
  constitution: Policy['constitution'],
  rules: readonly RuleScore[],
  judgement: Judgement,
  risk: number
): ReadonlySet<CompiledRule> {
  const names = new Set<CompiledRule>()
  if (risk === 0) return names
  const alone = new Map(
    decide(constitution, rules, 0).categories.map((verdict) => [verdict.category, verdict.decision])
  )
  for (const { category, decision, rules: counted } of judgement.categories) {
    if (alone.get(category) !== decision) for (const { rule } of counted) names.add(rule)
  }
  return names
}
