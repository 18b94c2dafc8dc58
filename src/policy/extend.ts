/**
 * A constitution laid over one that ships (`extends: default`): what it does not mention stays as it is there, so that a
 * stricter or laxer policy is a page and follows the base when that learns more.
 */
import type { Path, Problems } from './problems.js'
import type { ConstitutionSource, ExtensionSource, RuleSource } from './schema.js'
import { shippedSource } from './shipped.js'

export interface Extended {
  source: ConstitutionSource
  /** Reports at the place in the extension's own file. */
  problems: Problems
  /** `name@version` */
  base: string
}

export function extend(extension: ExtensionSource, problems: Problems): Extended {
  const base = shippedSource(extension.extends)
  const { extends: _, without = [], rules: own = [], guarded: words, ...rest } = extension
  const dropped = new Set(without)
  for (const [i, name] of without.entries()) {
    if (base.rules.every((rule) => rule.name !== name)) {
      problems.add(['without', i], `"${extension.extends}" has no rule of this name`)
    }
  }
  const changes = new Map(own.map((rule) => [rule.name, rule]))
  const names = new Set(base.rules.map(({ name }) => name))
  const kept = base.rules.filter(({ name }) => !dropped.has(name))
  // A rule of the base's name changes the fields that it gives; any other is a rule of its own, which the schema checks.
  const rules = kept.map((rule) => ({ ...rule, ...changes.get(rule.name) }))
  const added = own.filter(({ name }) => !names.has(name) || dropped.has(name)) as RuleSource[]
  const places = [...kept, ...added].map((rule) => own.findIndex(({ name }) => name === rule.name))
  const guarded = guardedOver(base.guarded, words)
  const source = {
    ...base,
    ...rest,
    categories: overEach(base.categories, extension.categories),
    ...(guarded === undefined ? {} : { guarded }),
    lexicons: { ...base.lexicons, ...ownLexicons(base, extension) },
    rules: [...rules, ...added]
  }
  return { source, problems: placed(problems, places), base: `${base.name}@${base.version}` }
}

/** `$name` in the list of that very name stands for the base's list. */
function ownLexicons(base: ConstitutionSource, { lexicons = {} }: ExtensionSource): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(lexicons).map(([name, list]) => [
      name,
      list.flatMap((entry) => (entry === `$${name}` ? (base.lexicons?.[name] ?? [entry]) : [entry]))
    ])
  )
}

/** A list replaces the base's; subjects are added by their names. */
function guardedOver(
  base: ConstitutionSource['guarded'],
  own: ExtensionSource['guarded']
): ConstitutionSource['guarded'] {
  if (base === undefined || own === undefined) return base
  return { ...base, ...own, topics: { ...base.topics, ...own.topics } }
}

function overEach<T extends Record<string, object>>(base: T, changes: { [K in keyof T]?: Partial<T[K]> } = {}): T {
  const entries = Object.entries(base).map(([key, value]) => [key, { ...value, ...changes[key] }])
  return Object.fromEntries(entries) as T
}

/** @param places by index of a rule in the whole, its index in the extension, or -1 where the base has it */
function placed(problems: Problems, places: readonly number[]): Problems {
  const own = (path: Path): Path => {
    const [first, index, ...rest] = path
    if (first !== 'rules' || typeof index !== 'number') return path
    const place = places[index] ?? -1
    return place < 0 ? ['extends'] : ['rules', place, ...rest]
  }
  return { list: problems.list, add: (path, message, detail) => problems.add(own(path), message, detail) }
}
