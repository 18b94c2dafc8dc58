/** Rules as the engine uses them: lexicons expanded, defaults filled in, every name checked. */
import { RE2JS } from 're2js'
import { nearestHint } from '../../base/near.js'
import type { Detector } from '../../detectors/detector.js'
import type { Category, DetectionType } from '../evaluation.js'
import { goneGuarded, isGoneRule } from './gone.js'
import { type GuardedKind, guardedKinds, type Lexicons } from './lexicons.js'
import type { Path, Problems } from './problems.js'
import type { ConstitutionSource, RuleSource } from './schema.js'
import { shippedFormats } from './shipped.js'
import type { RuleRole } from './values.js'

export interface PatternRule {
  anchors: string[]
  regex: string
  /** UTF-16 units on each side of an anchor. */
  reach: number
}

export interface Rule {
  name: string
  description: string
  category: Category
  type: DetectionType
  /** 0..1, the score of one match; 0 only of a rule that nominates. */
  weight: number
  /** Whether the encoder reads its matches, where a rule of the same category lets the encoder decide. */
  nominate: boolean
  /**
   * For a rule that nominates: false where its match is too weak a sign to ask the encoder, but the encoder still
   * decides over it.
   */
  raises: boolean
  /** The highest band that its category reaches by such rules alone; undefined: any. */
  atMost: 'middle' | undefined
  /**
   * For a rule that nominates: the encoder's confidence in its category from which a match counts after all; undefined:
   * none.
   */
  agreedFrom: number | undefined
  any: string[]
  all: string[][]
  /** Words from the first to the last of a match of `all`. */
  within: number
  ordered: boolean
  patterns: PatternRule[]
  /** Most words of a text beside a match of phrases; undefined: any number. */
  alone: number | undefined
  /** Least words of a text beside a match of phrases; undefined: none. */
  beside: number | undefined
  /** Whether a match of phrases may reach from one sentence into another. */
  acrossSentences: boolean
  detector: { id: string; kinds: ReadonlySet<string> | undefined; minConfidence: number } | undefined
  /** Kinds of access to content that the chat's own system prompt guards. */
  guarded: ReadonlySet<GuardedKind> | undefined
  /** Names of rules that must also match in the same part, or must not. */
  when: { all: string[]; any: string[]; none: string[] } | undefined
  unless: string[]
  /**
   * The same, but only in texts of an operator or the model: a caller must not switch a rule off by writing such a
   * phrase.
   */
  unlessTrusted: string[]
  unlessWithin: number
  /** Undefined: all speakers. */
  roles: ReadonlySet<RuleRole> | undefined
  direction: 'request' | 'answer' | 'both'
  context: {
    /** Keys that answer the question of a match; those in `permit` can settle it. */
    keys: string[]
    permit: Readonly<Record<string, string[]>>
    forbid: Readonly<Record<string, string[]>>
    /** Whether `permit` settles matches of any score, or only those below the high band. */
    settles: 'all' | 'middle'
  }
}

const typeOf: Partial<Record<Category, DetectionType>> = {
  prompt_injection: 'prompt_injection',
  jailbreak: 'jailbreak',
  personal_data: 'personal_data',
  secrets: 'secret'
}

/** The default type of a finding. */
export function typeOfCategory(category: Category): DetectionType {
  return typeOf[category] ?? 'policy_violation'
}

/** A bound on one pattern's automaton, so that a short text of nested repetitions cannot cost seconds. */
const maxProgram = 5000
/** UTF-16 units on each side of an anchor. */
const defaultReach = 200

export interface RuleReader {
  source: ConstitutionSource
  lexicons: Lexicons
  detectors: readonly Detector[]
  problems: Problems
  /** Receives entries that do not do what they say. */
  warnings: Problems
}

export function readRules(reader: RuleReader): Rule[] {
  const seen = new Map<string, number>()
  return reader.source.rules.map((source, i) => {
    const first = seen.get(source.name)
    if (first === undefined) seen.set(source.name, i)
    else {
      const place = reader.problems.nameOf(['rules', first])
      reader.problems.add(['rules', i, 'name'], `"${source.name}" is the name of ${place} already`)
    }
    return readRule(source, ['rules', i], reader)
  })
}

function readRule(source: RuleSource, path: Path, reader: RuleReader): Rule {
  const { lexicons, problems } = reader
  const expand = (list: readonly string[] | undefined, ...step: Path) => lexicons.expand(list ?? [], [...path, ...step])
  refuseIdle(source, path, problems)
  const any = expand(source.any, 'any')
  const all = (source.all ?? []).map((group, i) => expand(group, 'all', i))
  // Dropped phrases match nothing; without any clause the rule would match wherever its `when` holds.
  if (source.any !== undefined && any.length + all.length === 0) all.push([])
  const rule: Rule = {
    name: source.name,
    description: source.description ?? '',
    category: source.category,
    type: source.type ?? typeOfCategory(source.category),
    weight: source.weight,
    nominate: source.nominate ?? false,
    raises: source.raises ?? true,
    atMost: source.at_most,
    agreedFrom: source.agreed_from,
    any,
    all,
    within: source.within ?? 10,
    ordered: source.ordered ?? false,
    patterns: [
      ...(source.patterns ?? []).map((pattern, i) => {
        checkRegex(pattern.regex, [...path, 'patterns', i, 'regex'], problems)
        const anchors = lexicons.expandAnchors(pattern.anchors, [...path, 'patterns', i, 'anchors'])
        return { anchors, regex: pattern.regex, reach: pattern.reach ?? defaultReach }
      }),
      ...readFormats(source, path, problems)
    ],
    alone: source.alone,
    beside: source.beside,
    acrossSentences: source.across_sentences ?? false,
    detector: readDetector(source, path, reader),
    guarded: readGuarded(source, path, reader),
    when: readWhen(source, path, reader),
    unless: expand(source.unless, 'unless'),
    unlessTrusted: expand(source.unless_trusted, 'unless_trusted'),
    unlessWithin: source.unless_within ?? 6,
    roles: source.roles === undefined ? undefined : new Set(source.roles),
    direction: source.direction ?? 'both',
    context: readContext(source, reader.source)
  }
  return rule
}

/** The patterns of shipped formats. */
function readFormats({ formats = [] }: RuleSource, path: Path, problems: Problems): PatternRule[] {
  return formats.flatMap((name, i) => {
    const known = shippedFormats()
    const patterns = known.get(name)
    if (patterns !== undefined) return patterns.map((pattern) => ({ ...pattern, reach: pattern.reach ?? defaultReach }))
    const accepted = [...known.keys()]
    problems.add(
      [...path, 'formats', i],
      `unknown format; known: ${accepted.join(', ')}${nearestHint(name, accepted)}`,
      { accepted }
    )
    return []
  })
}

/** Reports fields that have no effect because the field that they modify is missing. */
function refuseIdle(source: RuleSource, path: Path, problems: Problems): void {
  const { any, all, patterns, formats, detector, guarded, when } = source
  const byItself = [any, all, patterns, formats, detector, guarded].some((given) => given !== undefined)
  if (!byItself && when?.all === undefined && when?.any === undefined) {
    problems.add(path, 'matches nothing: give any, all, patterns, formats, detector, guarded, or when with all or any')
  }
  if (source.weight === 0 && source.nominate !== true) {
    problems.add(
      [...path, 'weight'],
      'must be > 0, but for a rule with "nominate: true", which may count nothing by itself'
    )
  }
  if (source.nominate === true && detector === 'encoder') {
    problems.add([...path, 'nominate'], 'has no effect with "detector: encoder", which decides', { atKey: true })
  }
  for (const field of ['alone', 'beside'] as const) {
    if (source[field] === undefined || any !== undefined || all !== undefined) continue
    problems.add([...path, field], 'has no effect without "any" or "all"', { atKey: true })
  }
  const needs = [
    ['within', 'all'],
    ['ordered', 'all'],
    ['kinds', 'detector'],
    ['min_confidence', 'detector'],
    ['raises', 'nominate'],
    ['agreed_from', 'nominate'],
    ['unless_within', 'unless']
  ] as const
  for (const [field, owner] of needs) {
    if (source[field] !== undefined && source[owner] === undefined) {
      problems.add([...path, field], `has no effect without "${owner}"`, { atKey: true })
    }
  }
}

function checkRegex(regex: string, path: Path, problems: Problems): void {
  try {
    const compiled = RE2JS.compile(regex, RE2JS.CASE_INSENSITIVE)
    if (compiled.programSize() > maxProgram) problems.add(path, 'is too large: repeat less')
    else if (compiled.matcher('').find()) problems.add(path, 'matches the empty text')
  } catch (error) {
    problems.add(path, `is not a linear-time (RE2) pattern: ${error instanceof Error ? error.message : 'not readable'}`)
  }
}

function readDetector(source: RuleSource, path: Path, { detectors, problems }: RuleReader): Rule['detector'] {
  if (source.detector === undefined) return undefined
  const detector = detectors.find((candidate) => candidate.id === source.detector)
  if (detector === undefined) {
    const accepted = detectors.map((candidate) => candidate.id)
    problems.add(
      [...path, 'detector'],
      `unknown detector; known: ${accepted.join(', ')}${nearestHint(source.detector, accepted)}`,
      { accepted }
    )
    return undefined
  }
  for (const [i, kind] of (source.kinds ?? []).entries()) {
    if (!detector.kinds.includes(kind) && detector.groups?.has(kind) !== true) {
      const accepted = detector.kinds
      const near = nearestHint(kind, accepted)
      problems.add([...path, 'kinds', i], `unknown kind; "${detector.id}" finds: ${accepted.join(', ')}${near}`, {
        accepted
      })
    }
  }
  const kinds = source.kinds && new Set(source.kinds.flatMap((kind) => detector.groups?.get(kind) ?? [kind]))
  return { id: detector.id, kinds, minConfidence: source.min_confidence ?? 0 }
}

function readGuarded({ guarded }: RuleSource, path: Path, { source, problems, warnings }: RuleReader): Rule['guarded'] {
  if (guarded === undefined) return undefined
  if (source.guarded === undefined) {
    problems.add([...path, 'guarded'], 'needs the words of "guarded" at the top of the constitution')
  }
  for (const [i, kind] of guarded.entries()) {
    if (!isGuardedKind(kind)) warnings.add([...path, 'guarded', i], goneGuarded)
  }
  return new Set(guarded.filter(isGuardedKind))
}

const isGuardedKind = (kind: string): kind is GuardedKind => (guardedKinds as readonly string[]).includes(kind)

/** Conditions name only earlier rules, so that no cycle is possible. */
function readWhen({ when }: RuleSource, path: Path, { source, problems, warnings }: RuleReader): Rule['when'] {
  if (when === undefined) return undefined
  const own = path[1] as number
  const read = (field: 'all' | 'any' | 'none') => {
    for (const [i, name] of (when[field] ?? []).entries()) {
      const index = source.rules.findIndex((rule) => rule.name === name)
      if (index < 0 && isGoneRule(name)) {
        warnings.add(
          [...path, 'when', field, i],
          `the shipped constitution has no rule "${name}" any more: it never matches`
        )
      } else if (index < 0) {
        const near = nearestHint(
          name,
          source.rules.slice(0, own).map((rule) => rule.name)
        )
        problems.add([...path, 'when', field, i], `there is no rule "${name}"${near}`)
      } else if (index >= own) problems.add([...path, 'when', field, i], `"${name}" must stand before this rule`)
    }
    return when[field] ?? []
  }
  return { all: read('all'), any: read('any'), none: read('none') }
}

/** A key in a rule's `permit` can settle the rule even if `keys` does not list it. */
function readContext(source: RuleSource, constitution: ConstitutionSource): Rule['context'] {
  const permit = source.context?.permit ?? {}
  const keys = source.context?.keys ?? constitution.categories[source.category]?.context ?? []
  return {
    keys: [...new Set([...keys, ...Object.keys(permit)])],
    permit,
    forbid: source.context?.forbid ?? {},
    settles: source.context?.settles ?? 'all'
  }
}
