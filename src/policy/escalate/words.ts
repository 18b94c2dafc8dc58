/** The words of a constitution about one category, for judges that read policies. */
import type { Constitution } from '../constitution/parse.js'
import type { Rule } from '../constitution/rules.js'
import type { Category } from '../evaluation.js'
import type { PolicyWords } from './judges.js'

/** Most values of each key: judges read a policy of some hundred words best, and longer lists add nothing. */
const mostValues = 60

export function wordsOf(
  { categories, rules }: Pick<Constitution, 'categories' | 'rules'>,
  category: Category,
  direction: 'request' | 'answer'
): PolicyWords {
  const own = rules.filter((rule) => {
    return rule.category === category && (rule.direction === 'both' || rule.direction === direction)
  })
  const settling: Record<string, Set<string>> = {}
  for (const { context } of own) {
    for (const [key, values] of Object.entries(context.permit)) {
      const all = settling[key] ?? new Set()
      settling[key] = all
      // An asterisk stands for any ending.
      for (const value of values) if (all.size < mostValues) all.add(value.replaceAll('*', '…'))
    }
  }
  return {
    category,
    description: categories[category].description ?? '',
    criteria: described(own.filter((rule) => !isSettled(rule))),
    ambiguous: described(own.filter(isSettled)),
    settling: Object.fromEntries(Object.entries(settling).map(([key, values]) => [key, [...values]]))
  }
}

function isSettled({ context }: Rule): boolean {
  return context.settles === 'all' && Object.keys(context.permit).length > 0
}

function described(rules: readonly Rule[]): string[] {
  return [...new Set(rules.flatMap(({ description }) => (description === '' ? [] : [description])))]
}
