/** Finds the rules without which a decision would be milder, by deciding again without them. */
import type { Judgement } from '../decide/decide.js'
import { type Decision, decisions } from '../evaluation.js'
import type { RuleFlip } from '../explanation.js'
import type { CompiledRule } from '../match/compile.js'
import { countedOf, type Match } from '../match/findings.js'

/**
 * @param judge decides over the remaining rules. It is called once for each tried rule, and where none suffices, once
 * for each pair.
 */
export function ruleFlips(
  now: Pick<Judgement, 'decision'>,
  tried: readonly CompiledRule[],
  judge: (isLeft: (rule: CompiledRule) => boolean) => Pick<Judgement, 'decision' | 'riskScore'>
): RuleFlip[] {
  if (now.decision === 'permit') return []
  const flip = (gone: readonly CompiledRule[], { decision, riskScore }: Decided): RuleFlip => ({
    without: gone.map(({ name }) => name),
    decision,
    risk_score: riskScore
  })
  const single = tried
    .map((gone) => ({ gone, after: judge((rule) => rule !== gone) }))
    .filter(({ after }) => isMilder(after.decision, now.decision))
  if (single.length > 0) return single.map(({ gone, after }) => flip([gone], after))
  // No single rule decides: the strongest are removed until the decision flips, then unnecessary removals are undone.
  let gone: CompiledRule[] = []
  let after: Decided | undefined
  const isFlipped = () => after !== undefined && isMilder(after.decision, now.decision)
  while (!isFlipped() && gone.length < tried.length) {
    const [next] = tried
      .filter((rule) => !gone.includes(rule))
      .map((rule) => ({ rule, after: judge((other) => other !== rule && !gone.includes(other)) }))
      .sort((a, b) => order(a.after) - order(b.after))
    gone.push(next!.rule)
    after = next!.after
  }
  if (after === undefined || !isFlipped()) return []
  for (const rule of [...gone]) {
    const fewer = gone.filter((other) => other !== rule)
    const without = judge((other) => !fewer.includes(other))
    if (isMilder(without.decision, now.decision)) [gone, after] = [fewer, without]
  }
  return [flip(gone, after)]
}

/**
 * Most rules to leave out in turn, and most matches to weigh again each time, since a request's own limits are far
 * higher.
 */
const mostTried = 8
const mostWeighed = 200

/**
 * The flips that a verdict stores: for its strongest deciding rules, and none where too much matched.
 * @param alone matches of rules by themselves, before their conditions on each other
 */
export function flipsOfRules(
  now: Pick<Judgement, 'decision' | 'categories'>,
  alone: readonly Match[],
  conditional: readonly CompiledRule[],
  weigh: (matches: readonly Match[]) => Decided
): RuleFlip[] {
  if (alone.length > mostWeighed) return []
  const bearing = now.categories.flatMap(({ decision, rules }) => (decision === now.decision ? rules : []))
  const tried = [...bearing].sort((a, b) => b.score - a.score).slice(0, mostTried)
  return ruleFlips(
    now,
    tried.map(({ rule }) => rule),
    // Rules may depend on each other: their conditions are checked again.
    (isLeft) => {
      const left = alone.filter(({ rule }) => isLeft(rule))
      return weigh(countedOf(conditional.filter(isLeft), left))
    }
  )
}

type Decided = Pick<Judgement, 'decision' | 'riskScore'>

export function isMilder(a: Decision, b: Decision): boolean {
  return decisions.indexOf(a) < decisions.indexOf(b)
}

function order({ decision, riskScore }: Decided): number {
  return decisions.indexOf(decision) + Math.min(riskScore, 0.99999)
}
