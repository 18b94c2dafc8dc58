/** Without which rules a decision would be milder: found by deciding again without them. */
import type { Judgement } from '../decide/decide.js'
import { type Decision, decisions } from '../evaluation.js'
import type { RuleFlip } from '../explanation.js'
import type { CompiledRule } from '../match/compile.js'
import { countedOf, type Match } from '../match/findings.js'

/** @param judge decides over what is left. It is asked once for each rule tried, and where none is enough, once for each pair. */
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
  // No one rule decides alone: the strongest are taken away until it flips, then those given back that need not go.
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

/** Rules that are left out in turn, and matches that are weighed again each time: what one request holds is not bounded so. */
const mostTried = 8
const mostWeighed = 200

/**
 * Those that a verdict keeps: of the strongest rules that bear on it, and none where too much matched.
 * @param alone what rules match by themselves, whatever they say of each other
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
    // Rules count beside others: those are asked again, too.
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
