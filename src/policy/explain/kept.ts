/** Makes the explanation that is stored with a verdict. It comes from the verdict alone, and its size is bounded. */
import type { Constitution } from '../constitution/parse.js'
import type { Verdict } from '../evaluate/verdict.js'
import type { KeptExplanation } from '../explanation.js'
import { nextBands } from './explain.js'

const maxRules = 12
const maxFlips = 8
const maxKeys = 12

export function keptOf(verdict: Verdict, constitution: Constitution): KeptExplanation {
  const { flips = [], missingContext } = verdict
  return {
    thresholds: { ...constitution.bands },
    categories: verdict.categories.map((entry) => {
      const { category, score, decision } = entry
      return { category, score, decision, ...nextBands(constitution, entry) }
    }),
    rules: [...verdict.rules]
      .sort((a, b) => b.score - a.score)
      .slice(0, maxRules)
      .map(({ rule, category, score, effect }) => ({ rule, category, score, context: effect })),
    ...(flips.length > 0 && { flips: flips.slice(0, maxFlips) }),
    ...(missingContext.length > 0 && { missing_context: missingContext.slice(0, maxKeys) })
  }
}
