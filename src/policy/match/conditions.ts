/**
 * Rules that count only beside others (`when`). Looked at once all matches of a call are known, part by part: what is said
 * in one message is no condition for another.
 */
import type { CompiledRule } from './compile.js'
import type { Match } from './findings.js'

/** Indexes of rules. */
export interface Condition {
  readonly all: readonly number[]
  readonly any: readonly number[]
  readonly none: readonly number[]
}

/** The matches that count: what the encoder decides over was there for conditions alone. */
export function countedOf(conditional: readonly CompiledRule[], matches: readonly Match[]): readonly Match[] {
  const held = conditional.length === 0 ? matches : holdConditions(conditional, matches)
  return held.some(({ isNominated }) => isNominated) ? held.filter(({ isNominated }) => !isNominated) : held
}

/** @param conditional the rules with a condition, in the order of the constitution: each looks only at those before it */
function holdConditions(conditional: readonly CompiledRule[], matches: readonly Match[]): Match[] {
  const parts = new Map<number, Match[]>()
  for (const match of matches) {
    const list = parts.get(match.part)
    if (list === undefined) parts.set(match.part, [match])
    else list.push(match)
  }
  return [...parts.values()].flatMap((list) => conditional.reduce(holdCondition, list))
}

function holdCondition(matches: Match[], rule: CompiledRule): Match[] {
  const { all, any, none } = rule.when!
  const matched = (index: number) => matches.some((match) => match.rule.index === index)
  const holds = all.every(matched) && (any.length === 0 || any.some(matched)) && !none.some(matched)
  if (rule.matchesByItself) return holds ? matches : matches.filter((match) => match.rule !== rule)
  if (!holds) return matches
  // It has no words of its own: it is shown where the first rule that it names is.
  const shown = [...all, ...any].find(matched)
  const places = matches.filter((match) => match.rule.index === shown)
  const isNominated = (place: Match) => rule.nominate && place.isNominated
  return [
    ...matches,
    ...places.map((place) => ({ ...place, rule, confidence: rule.weight, isNominated: isNominated(place) }))
  ]
}
