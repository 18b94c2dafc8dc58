/** Texts of a constitution for people, and the topics that could settle its rules. */

import type { Speech } from '../evaluation.js'
import type { CompiledRule, Policy } from '../match/compile.js'
import { contextEffect, GivenContext } from './context.js'

/** The one key of a context that people are asked about. */
export const askedKey = 'topic'

export function speechOf({ constitution, rules }: Pick<Policy, 'constitution' | 'rules'>): Speech {
  const { texts, bands, categories } = constitution
  /** The rules that a context can settle; a judge's finding has no rule. */
  const open = (names: readonly string[]): CompiledRule[] =>
    rules.filter(({ name, context }) => context.keys.length > 0 && names.includes(name))
  return {
    texts,
    middle: bands.middle,
    stops(category, score) {
      if (score < bands.middle) return false
      const { middle, high } = categories[category]
      return (score < bands.high ? middle : high) !== 'permit'
    },
    settles(names, topic) {
      const given = new GivenContext({ [askedKey]: topic })
      const asked = open(names)
      return asked.length > 0 && asked.every(({ context }) => contextEffect(context, given, false) === 'permit')
    },
    topicsOf(names) {
      const asked = new Set(open(names).map(({ name }) => name))
      const named = constitution.rules.filter(({ name }) => asked.has(name))
      const topics = named.flatMap(({ context }) => context.permit[askedKey] ?? [])
      return [...new Set(topics)].filter((topic) => !topic.includes('*'))
    }
  }
}
