/** From matches to the score of each rule. */
import type { CompiledRule } from '../match/compile.js'
import type { Match } from '../match/findings.js'
import { type ContextEffect, contextEffect, type GivenContext } from './context.js'

export interface RuleScore {
  rule: CompiledRule
  /** 0..1; 0 where the context settles the rule's matches. */
  score: number
  effect: ContextEffect
  /** Whether it matched in what was said just now, not only in the history that comes with it. */
  fresh: boolean
}

/**
 * Each rule once, by its most confident match; `forbid` by context lifts it to at least `high`.
 * @param turn index of the first part that was said just now
 */
export function scoreRules(matches: readonly Match[], given: GivenContext, high: number, turn: number): RuleScore[] {
  const best = new Map<CompiledRule, number>()
  const fresh = new Set<CompiledRule>()
  for (const { rule, confidence, part } of matches) {
    best.set(rule, Math.max(best.get(rule) ?? 0, confidence))
    if (part >= turn) fresh.add(rule)
  }
  return [...best].map(([rule, confidence]) => {
    const effect = contextEffect(rule.context, given, round(confidence) >= high)
    const score = effect === 'permit' ? 0 : effect === 'forbid' ? Math.max(confidence, high) : confidence
    return { rule, score, effect, fresh: fresh.has(rule) }
  })
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
