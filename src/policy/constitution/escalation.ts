/**
 * The `escalate` section of a constitution, which says when judges are asked, checked against the configured judges.
 */

import type { Coverage } from '../escalate/judges.js'
import type { Category } from '../evaluation.js'
import type { Path, Problems } from './problems.js'
import type { ConstitutionSource, EscalationSource } from './schema.js'

export interface Escalation {
  /** A name under `judges` of the configuration. */
  judge: string
  /** A category is in doubt from `above` on, up to but not at `below`. */
  above: number
  below: number
  categories: readonly Category[]
  /** `raise`: the judge may only make a verdict stricter. `both`: it may clear what it can read, too. */
  trust: 'raise' | 'both'
  /** Outcome for a category in doubt where no opinion can be obtained. */
  onFailure: 'divert' | 'forbid' | 'permit_local'
}

const defaultAbove = 0.25

export function readEscalations(source: ConstitutionSource, coverage: Coverage, problems: Problems): Escalation[] {
  const taken = new Map<Category, number>()
  return (source.escalate ?? []).map((entry, i): Escalation => {
    const path: Path = ['escalate', i]
    const above = entry.when?.above ?? defaultAbove
    const below = entry.when?.below ?? source.bands.high
    if (above >= below) problems.add([...path, 'when'], `above (${above}) must be less than below (${below})`)
    const categories = readCategories(entry, path, { source, coverage, problems })
    for (const [j, category] of categories.entries()) {
      const first = taken.get(category)
      if (first === undefined) taken.set(category, i)
      else {
        const place = entry.categories === undefined ? path : [...path, 'categories', j]
        problems.add(place, `"${category}" is escalated by escalate[${first}] already: list the categories of each`)
      }
    }
    const { trust = 'raise', on_failure: onFailure = 'divert' } = entry
    return { judge: entry.judge, above, below, categories, trust, onFailure }
  })
}

interface Given {
  source: ConstitutionSource
  coverage: Coverage
  problems: Problems
}

function readCategories(entry: EscalationSource, path: Path, { source, coverage, problems }: Given): Category[] {
  const covered = Object.hasOwn(coverage, entry.judge) ? coverage[entry.judge] : undefined
  if (covered === undefined) {
    const accepted = Object.keys(coverage)
    const message = `"${entry.judge}" is not configured; configured under "judges": ${accepted.join(', ') || 'none'}`
    problems.add([...path, 'judge'], message, { accepted })
    return []
  }
  const isActedOn = (category: Category) => source.categories[category].high !== 'permit'
  if (entry.categories === undefined) {
    const categories = covered.filter(isActedOn)
    if (categories.length === 0) problems.add(path, 'the judge covers only categories that are permitted at any score')
    return categories
  }
  for (const [i, category] of entry.categories.entries()) {
    if (!covered.includes(category)) {
      const message = `the judge "${entry.judge}" does not speak of it; it speaks of: ${covered.join(', ')}`
      problems.add([...path, 'categories', i], message)
    } else if (!isActedOn(category)) {
      problems.add([...path, 'categories', i], 'is permitted at any score: no judge could change that')
    }
  }
  return [...entry.categories]
}
