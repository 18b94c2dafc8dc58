/**
 * Overlays: constitutions that extend a shipped one (`extends: default`, `extends: strict`) and inherit everything that they do not
 * mention. So a stricter or laxer policy is one page long, and follows updates of its base.
 */

import { nearestHint } from '../../base/near.js'
import { goneLexicon, isGoneLexicon, isGoneRule } from './gone.js'
import type { Path, Problems } from './problems.js'
import type { ConstitutionSource, ExtensionSource, RuleSource } from './schema.js'
import { shippedSource, withLists } from './shipped.js'

type Change = NonNullable<ExtensionSource['rules']>[number]

export interface Extended {
  source: ConstitutionSource
  /** Problems and warnings name the place in the extension's own file. */
  problems: Problems
  warnings: Problems
  /** `name@version` */
  base: string
}

/** @param warnings receives entries of an overlay about rules that the base has dropped: they have no effect */
export function extend(extension: ExtensionSource, problems: Problems, warnings: Problems): Extended {
  // The base's lexicons already contain its lists.
  const { lists: _lists, ...base } = wholeOf(extension.extends, problems, warnings)
  const { extends: _, without = [], rules: given = [], guarded: words, ...rest } = extension
  const dropped = new Set(without)
  const names = new Set(base.rules.map(({ name }) => name))
  const isGone = (name: string) => !names.has(name) && isGoneRule(name)
  for (const [i, name] of without.entries()) {
    if (isGone(name)) warnings.add(['without', i], goneRule(name, extension.extends))
    else if (!names.has(name))
      problems.add(['without', i], `"${extension.extends}" has no rule of this name${nearestHint(name, names)}`)
  }
  const own = given.filter((rule, i) => {
    if (!isGone(rule.name) || isWhole(rule)) return true
    warnings.add(['rules', i], goneRule(rule.name, extension.extends))
    return false
  })
  const changes = new Map(own.map((rule) => [rule.name, rule]))
  const { kept, went } = keptOf(base.rules, dropped)
  for (const [name, needed] of went) {
    warnings.add(['without', without.indexOf(needed)], `"${name}" goes too: it matches only where "${needed}" does`)
  }
  // A rule with a name of the base changes the given fields; any other rule is new, and the schema checks it.
  const rules = kept.map((rule) => ({ ...rule, ...changes.get(rule.name) }))
  const added = own.filter(({ name }) => !names.has(name) || dropped.has(name)) as RuleSource[]
  // Two new rules may have one name, which is a mistake at the second; of two changes of a rule the last one holds.
  const places = [
    ...kept.map((rule) => given.findLastIndex(({ name }) => name === rule.name)),
    ...added.map((rule) => given.indexOf(rule))
  ]
  const guarded = guardedOver(base.guarded, words)
  const source = {
    ...base,
    ...rest,
    categories: overEach(base.categories, extension.categories),
    ...(guarded === undefined ? {} : { guarded }),
    lexicons: { ...base.lexicons, ...ownLexicons(base, extension, warnings) },
    rules: [...rules, ...added]
  }
  return {
    source: withLists(source, problems),
    problems: placed(problems, places),
    warnings: placed(warnings, places),
    base: `${base.name}@${base.version}`
  }
}

/**
 * Rules of a base without the dropped ones, and without what their conditions say of those.
 * @returns also the rules that went because they need a dropped one, each with the name of that
 */
function keptOf(
  rules: readonly RuleSource[],
  dropped: ReadonlySet<string>
): { kept: RuleSource[]; went: Map<string, string> } {
  const went = new Map<string, string>()
  const isGone = (name: string) => dropped.has(name) || went.has(name)
  const kept = rules.flatMap((rule) => {
    const { name, when } = rule
    if (dropped.has(name)) return []
    if (when === undefined) return [rule]
    const { all = [], any } = when
    const needed = all.find(isGone) ?? (any?.every(isGone) === true ? any[0] : undefined)
    if (needed !== undefined) {
      went.set(name, went.get(needed) ?? needed)
      return []
    }
    const conditions = Object.entries(when).map(([how, names]) => [how, names.filter((name) => !isGone(name))] as const)
    const left = conditions.filter(([, names]) => names.length > 0)
    const { when: _, ...unconditional } = rule
    return [left.length === 0 ? unconditional : { ...rule, when: Object.fromEntries(left) }]
  })
  return { kept, went }
}

/** A shipped constitution with what it inherits. The tests hold it to be without faults. */
function wholeOf(name: ExtensionSource['extends'], problems: Problems, warnings: Problems): ConstitutionSource {
  const source = shippedSource(name)
  if (!('extends' in source)) return withLists(source, problems)
  return extend(source, problems, warnings).source
}

function goneRule(name: string, base: string): string {
  return `"${base}" has no rule "${name}" any more: this has no effect`
}

/** Whether a rule is complete without a rule of the base. */
function isWhole({ category, weight, any, all, patterns, formats, detector, guarded, when }: Change): boolean {
  const finds = [any, all, patterns, formats, detector, guarded, when].some((way) => way !== undefined)
  return category !== undefined && weight !== undefined && finds
}

/** `$name` in the list of the same name includes the base's list. */
function ownLexicons(
  base: ConstitutionSource,
  { lexicons = {} }: ExtensionSource,
  warnings: Problems
): Record<string, string[]> {
  const own = Object.entries(lexicons).map(([name, list]): [string, string[]] => [
    name,
    list.flatMap((entry, i) => {
      if (entry !== `$${name}`) return [entry]
      const before = base.lexicons?.[name]
      if (before !== undefined || !isGoneLexicon(name)) return before ?? [entry]
      warnings.add(['lexicons', name, i], goneLexicon(entry))
      return []
    })
  ])
  // A list that becomes empty is dropped itself.
  return Object.fromEntries(own.filter(([, list]) => list.length > 0))
}

/** A list replaces the base's. */
function guardedOver(
  base: ConstitutionSource['guarded'],
  own: ExtensionSource['guarded']
): ConstitutionSource['guarded'] {
  if (base === undefined || own === undefined) return base
  return { ...base, ...own }
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
  return {
    list: problems.list,
    nameOf: (path) => problems.nameOf(own(path)),
    add: (path, message, detail) => problems.add(own(path), message, detail)
  }
}
