/** Finds the changes that would flip a decision, by deciding again without a rule or with another context. */
import type { JsonObject } from '../../base/chat.js'
import type { Constitution } from '../constitution/parse.js'
import type { Judgement } from '../decide/decide.js'
import type { RuleEngine } from '../evaluate/rule-engine.js'
import type { Found, JudgeInput } from '../evaluate/verdict.js'
import type { Decision } from '../evaluation.js'
import type { RuleFlip } from '../explanation.js'
import type { CompiledRule } from '../match/compile.js'
import { countedOf } from '../match/findings.js'
import { isMilder, ruleFlips } from './rule-flips.js'

export interface ContextFlip {
  key: string
  /** Values, any of which under the key flips the decision, with the rest of the context unchanged. */
  values: string[]
  /** True for any value that no rule names: it answers the question, but settles nothing. */
  any_other: boolean
  decision: Decision
  risk_score: number
}

export interface CombinedFlip {
  /** The combined keys and values. */
  context: Record<string, string>
  decision: Decision
  risk_score: number
}

export interface Flips {
  rules: RuleFlip[]
  context: ContextFlip[]
  combined_context: CombinedFlip[]
}

/** Most rules and values to try: each costs one more decision over known matches. */
const maxRules = 50
const maxValues = 200
/** A sample value that no rule names. */
const unnamed = 'something that no rule names'

export function flipsOf(engine: RuleEngine, input: JudgeInput, { matches, alone }: Found): Flips {
  const { constitution, conditional } = engine.policy
  const now = engine.weigh(matches, input).judgement
  const matched = [...new Set(matches.map(({ rule }) => rule))]
  const withContext = (context: JsonObject) => engine.weigh(matches, { ...input, context }).judgement
  return {
    rules: ruleFlips(now, matched.slice(0, maxRules), (isLeft) => {
      // Rules may depend on each other: their conditions are checked again.
      const left = alone.filter(({ rule }) => isLeft(rule))
      return engine.weigh(countedOf(conditional.filter(isLeft), left), input).judgement
    }),
    ...contextFlips(constitution, now, matched, input.context, withContext)
  }
}

function contextFlips(
  constitution: Constitution,
  now: Judgement,
  matched: readonly CompiledRule[],
  context: JsonObject | undefined,
  judge: (context: JsonObject) => Judgement
): Pick<Flips, 'context' | 'combined_context'> {
  const named = new Map<string, Set<string>>()
  for (const { index } of matched) {
    const { keys, permit, forbid } = constitution.rules[index]!.context
    for (const key of keys) if (!named.has(key)) named.set(key, new Set())
    for (const [key, globs] of [...Object.entries(permit), ...Object.entries(forbid)]) {
      const values = named.get(key) ?? new Set()
      for (const glob of globs) values.add(sampleOf(glob))
      named.set(key, values)
    }
  }
  const flips: ContextFlip[] = []
  let tried = 0
  for (const [key, values] of named) {
    const outcomes = new Map<string, ContextFlip>()
    for (const value of [...values, unnamed]) {
      if (++tried > maxValues) break
      const { decision, riskScore } = judge({ ...context, [key]: value })
      if (decision === now.decision) continue
      const isOther = value === unnamed
      const id = `${decision} ${riskScore} ${isOther}`
      const known = outcomes.get(id)
      if (known !== undefined) known.values.push(value)
      else {
        const flip = { key, values: isOther ? [] : [value], any_other: isOther, decision, risk_score: riskScore }
        outcomes.set(id, flip)
      }
    }
    flips.push(...outcomes.values())
  }
  const best = flips.reduce<Decision>(
    (mildest, { decision }) => (isMilder(decision, mildest) ? decision : mildest),
    now.decision
  )
  const combined = best === 'permit' ? undefined : combine(constitution, matched, context, best, judge)
  return { context: flips, combined_context: combined === undefined ? [] : [combined] }
}

/** Combines a settling value of every key, where only all keys together flip the decision. */
function combine(
  { rules }: Constitution,
  matched: readonly CompiledRule[],
  context: JsonObject | undefined,
  best: Decision,
  judge: (context: JsonObject) => Judgement
): CombinedFlip | undefined {
  const chosen: Record<string, string> = {}
  for (const { index } of matched) {
    const [entry] = Object.entries(rules[index]!.context.permit).filter(([key]) => !Object.hasOwn(chosen, key))
    if (entry !== undefined) chosen[entry[0]] = sampleOf(entry[1][0]!)
  }
  if (Object.keys(chosen).length < 2) return undefined
  const { decision, riskScore } = judge({ ...context, ...chosen })
  return isMilder(decision, best) ? { context: chosen, decision, risk_score: riskScore } : undefined
}

/** A value that matches a glob. */
function sampleOf(glob: string): string {
  const sample = glob.replaceAll('*', '').trim()
  return sample === '' ? 'anything' : sample
}
