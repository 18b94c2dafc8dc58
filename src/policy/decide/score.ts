/** From matches to the score of each rule. */
import type { CompiledRule } from '../match/compile.js'
import type { Match } from '../match/findings.js'
import type { SettledContexts } from '../settled.js'
import { type ContextEffect, contextEffect, type GivenContext } from './context.js'

export interface RuleScore {
  rule: CompiledRule
  /** 0..1; 0 where the context settles the rule's matches. */
  score: number
  effect: ContextEffect
  /** With `open`: the score of those of its matches about which people were asked already, and that stand. */
  exhausted?: number
  /** Whether it matched in what was said just now, not only in the history that comes with it. */
  fresh: boolean
}

export interface Scoring {
  /** Where the high band begins. */
  high: number
  /** Index of the first part that was said just now. */
  turn: number
  /** What people have said of single parts. */
  contexts: SettledContexts | undefined
}

/** Each rule once, by its most confident match; `forbid` by context lifts it to at least `high`. */
export function scoreRules(
  matches: readonly Match[],
  given: GivenContext,
  { high, turn, contexts }: Scoring
): RuleScore[] {
  const best = new Map<CompiledRule, number>()
  const fresh = new Set<CompiledRule>()
  const answered = new Map<CompiledRule, RuleScore>()
  for (const match of matches) {
    const { rule, confidence, part } = match
    if (part >= turn) fresh.add(rule)
    const effect = contexts?.effectOn(match, given, round(confidence) >= high)
    if (effect === undefined) {
      best.set(rule, Math.max(best.get(rule) ?? 0, confidence))
      continue
    }
    const score = scoreBy(effect, confidence, high)
    const before = answered.get(rule)
    if (before === undefined || score > before.score) answered.set(rule, { rule, score, effect, fresh: false })
  }
  const scores = [...best].map(([rule, confidence]): RuleScore => {
    const effect = contextEffect(rule.context, given, round(confidence) >= high)
    return { rule, score: scoreBy(effect, confidence, high), effect, fresh: fresh.has(rule) }
  })
  return answered.size === 0 ? scores : together(scores, answered, fresh)
}

function scoreBy(effect: ContextEffect, confidence: number, high: number): number {
  return effect === 'permit' ? 0 : effect === 'forbid' ? Math.max(confidence, high) : confidence
}

/** A rule that matched both in what was answered and elsewhere counts once, by the stronger of the two. */
function together(
  scores: readonly RuleScore[],
  answered: ReadonlyMap<CompiledRule, RuleScore>,
  fresh: ReadonlySet<CompiledRule>
): RuleScore[] {
  const own = new Set(scores.map(({ rule }) => rule))
  const both = scores.map((entry): RuleScore => {
    const other = answered.get(entry.rule)
    if (other === undefined || other.score === 0) return entry
    if (other.score >= entry.score) return { ...other, fresh: entry.fresh }
    return entry.effect === 'open' ? { ...entry, exhausted: other.score } : entry
  })
  const rest = [...answered.values()].filter(({ rule }) => !own.has(rule))
  return [...both, ...rest.map((entry) => ({ ...entry, fresh: fresh.has(entry.rule) }))]
}

/** Signs that are independent of each other: what a detector says by several rules it says once, as the strongest of them. */
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

/** Scores are compared as they are shown, so that a shown score never contradicts its decision. */
export function round(score: number): number {
  return Math.round(score * 10_000) / 10_000
}
