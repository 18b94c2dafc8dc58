/**
 * Computes the score of each rule from its matches, and the decision from the scores: bands per category, then the
 * strictest category.
 */
import { round } from '../../base/decision.js'
import type { Constitution } from '../constitution/parse.js'
import { type Category, categories, type Decision, type Scores, strictest } from '../evaluation.js'
import type { CompiledRule, Policy } from '../match/compile.js'
import type { Match } from '../match/findings.js'
import { type ContextEffect, contextEffect, type GivenContext } from './context.js'
import type { SettledContexts } from './settled.js'

export interface RuleScore {
  rule: CompiledRule
  /** 0..1; 0 where the context settles the rule's matches. */
  score: number
  effect: ContextEffect
  /** With `open`: the score of its matches about which people were asked already without settling them. */
  exhausted?: number
  /** The score by what the new turn says alone, without repeated history and earlier turns of the session; 0: nothing. */
  own: number
}

export interface Scoring {
  /** Where the high band begins. */
  high: number
  /** Index of the first part of the new turn. */
  turn: number
  /** The answers of people about single parts. */
  contexts: SettledContexts | undefined
}

/** Each rule once, by its most confident match; `forbid` by context lifts it to at least `high`. */
export function scoreRules(
  matches: readonly Match[],
  given: GivenContext,
  { high, turn, contexts }: Scoring
): RuleScore[] {
  const best = new Map<CompiledRule, number>()
  const own = new Map<CompiledRule, number>()
  const answered = new Map<CompiledRule, RuleScore>()
  for (const match of matches) {
    const { rule, confidence, part, acrossTurns } = match
    const raise = (scores: Map<CompiledRule, number>) =>
      void scores.set(rule, Math.max(scores.get(rule) ?? 0, confidence))
    // What only earlier turns complete is no sign of this one: the session would feed itself.
    if (part >= turn && !acrossTurns) raise(own)
    const effect = contexts?.effectOn(match, given, round(confidence) >= high)
    if (effect === undefined) {
      raise(best)
      continue
    }
    const score = scoreBy(effect, confidence, high)
    const before = answered.get(rule)
    if (before === undefined || score > before.score) answered.set(rule, { rule, score, effect, own: 0 })
  }
  const scores = [...best].map(([rule, confidence]): RuleScore => {
    const effect = contextEffect(rule.context, given, round(confidence) >= high)
    return { rule, score: scoreBy(effect, confidence, high), effect, own: 0 }
  })
  const all = answered.size === 0 ? scores : together(scores, answered)
  return all.map((entry) => ({ ...entry, own: ownOf(entry, own.get(entry.rule), high) }))
}

/** @param confidence of the rule's best match in the new turn alone */
function ownOf({ score, effect }: RuleScore, confidence: number | undefined, high: number): number {
  return confidence === undefined ? 0 : Math.min(score, scoreBy(effect, confidence, high))
}

function scoreBy(effect: ContextEffect, confidence: number, high: number): number {
  return effect === 'permit' ? 0 : effect === 'forbid' ? Math.max(confidence, high) : confidence
}

/** A rule that matched both in answered parts and elsewhere counts once, with the stronger score. */
function together(scores: readonly RuleScore[], answered: ReadonlyMap<CompiledRule, RuleScore>): RuleScore[] {
  const scored = new Set(scores.map(({ rule }) => rule))
  const both = scores.map((entry): RuleScore => {
    const other = answered.get(entry.rule)
    if (other === undefined || other.score === 0) return entry
    if (other.score >= entry.score) return other
    return entry.effect === 'open' ? { ...entry, exhausted: other.score } : entry
  })
  return [...both, ...[...answered.values()].filter(({ rule }) => !scored.has(rule))]
}

/** Independent signs: several rules of one detector count as one sign, the strongest. */
export function signsOf(scored: Iterable<{ rule: Pick<CompiledRule, 'detector'>; score: number }>): number[] {
  const signs: number[] = []
  const detectors = new Map<string, number>()
  for (const { rule, score } of scored) {
    if (rule.detector === undefined) signs.push(score)
    else detectors.set(rule.detector.id, Math.max(detectors.get(rule.detector.id) ?? 0, score))
  }
  return [...signs, ...detectors.values()]
}

/** Independent signs of one thing: 1 − Π(1 − s). Never less than the strongest, never more than 1. */
export function noisyOr(scores: Iterable<number>): number {
  let rest = 1
  for (const score of scores) rest *= 1 - score
  return round(1 - rest)
}

export interface CategoryVerdict {
  category: Category
  score: number
  /** The score of the new turn, without the session's addition. */
  own: number
  decision: Decision
  /** The rules that matched and that the context did not settle. */
  rules: readonly RuleScore[]
  /** For `depends`: the context keys that could settle it, or those that are asked for where none could. */
  missing: readonly string[]
}

export interface Judgement {
  decision: Decision
  /** The highest score; each is clamped to the band of its category's decision. */
  riskScore: number
  scores: Scores
  matchedRules: string[]
  missingContext: string[]
  /** Categories in which anything counted. */
  categories: CategoryVerdict[]
}

/** Every category, none with a signal. */
export const noScores: Readonly<Scores> = Object.freeze(
  Object.fromEntries(categories.map((category) => [category, 0])) as Scores
)

type Bands = Constitution['bands']

/** The smallest step between a score and a band's edge. */
const step = 0.0001

/** @param risk the session's addition to each category with a signal of its own, 0..1 */
export function decide(constitution: Constitution, scored: readonly RuleScore[], risk: number): Judgement {
  const verdicts = groupByCategory(scored).map((rules) => decideCategory(constitution, rules, risk))
  const decision = verdicts.reduce<Decision>((worst, verdict) => strictest(worst, verdict.decision), 'permit')
  const deciding = decision === 'permit' ? [] : verdicts.filter((verdict) => verdict.decision === decision)
  const scores = { ...noScores }
  let riskScore = 0
  for (const verdict of verdicts) {
    scores[verdict.category] = verdict.score
    riskScore = Math.max(riskScore, withinBand(verdict, constitution.bands))
  }
  return {
    decision,
    riskScore,
    scores,
    matchedRules: deciding.flatMap(({ rules }) => byScore(rules).map(({ rule }) => rule.name)),
    missingContext: missingOf(deciding),
    categories: verdicts
  }
}

function groupByCategory(scored: readonly RuleScore[]): RuleScore[][] {
  const groups = new Map<Category, RuleScore[]>()
  for (const entry of scored) {
    if (entry.score === 0) continue
    const group = groups.get(entry.rule.category)
    if (group === undefined) groups.set(entry.rule.category, [entry])
    else group.push(entry)
  }
  return [...groups.values()]
}

function decideCategory(
  { bands, categories }: Constitution,
  rules: readonly RuleScore[],
  sessionRisk: number
): CategoryVerdict {
  const category = rules[0]!.rule.category
  const policy = categories[category]
  // Content that the policy permits at any score is no sign of bad intent, and repeated history must not count again
  // each turn.
  const fresh = policy.high === 'permit' ? [] : rules.filter((entry) => entry.own > 0)
  const risk = fresh.length === 0 ? 0 : sessionRisk
  const total = (some: readonly RuleScore[]) => (some.length === 0 ? 0 : noisyOr([risk, ...signsOf(some)]))
  const full = total(rules)
  // Several signs that somebody is in need, or one in each turn, make nobody one to be refused.
  const isHeld = full >= bands.high && total(rules.filter(({ rule }) => rule.atMost !== 'middle')) < bands.high
  const score = isHeld ? Math.max(bands.middle, bands.high - step) : full
  const own = noisyOr(signsOf(fresh.map(({ rule, own }) => ({ rule, score: own }))))
  const verdict = { category, score, own, rules, missing: [] }
  if (score < bands.middle) return { ...verdict, decision: 'permit' }
  if (score >= bands.high && !isHeld) return { ...verdict, decision: policy.high }
  if (policy.middle !== 'ask') return { ...verdict, decision: policy.middle }
  // Asking helps only if the rules that no answer can settle do not reach the band by themselves.
  const exhausted = rules.flatMap((entry) => {
    if (entry.effect !== 'open') return entry
    return entry.exhausted === undefined ? [] : { ...entry, score: entry.exhausted }
  })
  if (total(exhausted) >= bands.middle) return { ...verdict, decision: 'divert' }
  const settling = settlingKeys(rules, (rest) => total(rest) < bands.middle)
  const asked = rules.flatMap(({ rule, effect }) => (effect === 'open' ? rule.context.keys : []))
  // With what is asked for a person decides, even where nothing could permit it.
  return { ...verdict, decision: 'depends', missing: settling.length > 0 ? settling : asked }
}

/**
 * The keys by which a category could be settled: each that suffices alone, else all of them where they suffice together,
 * else none. A key that merely answers the question, but under which no rule permits anything, settles nothing.
 */
function settlingKeys(rules: readonly RuleScore[], isSettled: (rest: readonly RuleScore[]) => boolean): string[] {
  const settles = ({ rule, effect }: RuleScore, key: string) =>
    effect === 'open' && rule.context.permit.some((permit) => permit.key === key)
  const rest = (keys: readonly string[]) =>
    rules.flatMap((entry) => {
      if (!keys.some((key) => settles(entry, key))) return entry
      return entry.exhausted === undefined ? [] : { ...entry, score: entry.exhausted }
    })
  const keys = [...new Set(rules.flatMap(({ rule }) => rule.context.permit.map(({ key }) => key)))].filter((key) =>
    rules.some((entry) => settles(entry, key))
  )
  const alone = keys.filter((key) => isSettled(rest([key])))
  if (alone.length > 0) return alone
  return isSettled(rest(keys)) ? keys : []
}

/** For `depends`: the keys of all categories, each once. */
export function missingOf(deciding: readonly Pick<CategoryVerdict, 'missing'>[]): string[] {
  return [...new Set(deciding.flatMap(({ missing }) => missing))].sort()
}

/** The score of a category, clamped to the band of its decision. */
export function withinBand(
  { score, decision }: Pick<CategoryVerdict, 'score' | 'decision'>,
  { middle, high }: Bands
): number {
  switch (decision) {
    case 'permit':
      return Math.min(score, round(middle - step))
    case 'depends':
    case 'divert':
      return Math.max(middle, Math.min(score, round(high - step)))
    case 'forbid':
      return Math.max(high, score)
    default:
      return decision satisfies never
  }
}

function byScore(rules: readonly RuleScore[]): RuleScore[] {
  return [...rules].sort((a, b) => b.score - a.score || a.rule.index - b.rule.index)
}

/** The rules of categories that only the session's risk has made stricter than the turn alone. */
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
