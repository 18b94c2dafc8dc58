/**
 * Compiles a constitution for the hot path: one matcher of the distinct phrases of all rules, and an index from each
 * phrase to the clauses that it can complete. The cost of a text depends on its own hits, not on the number of rules.
 */
import { setImmediate } from 'node:timers/promises'
import { RE2JS } from 're2js'
import type { Detector, Floors } from '../../detectors/detector.js'
import { encoderId } from '../../detectors/encoder.js'
import { detectors as allDetectors } from '../../detectors/index.js'
import { KnownWords } from '../../text/known-words.js'
import { atOnce, type Phrases, phraseSteps } from '../../text/phrases.js'
import { shippedWordCosts } from '../../text/word-costs.js'
import type { Constitution } from '../constitution/parse.js'
import type { Rule } from '../constitution/rules.js'
import type { RuleRole } from '../constitution/values.js'
import { type CompiledContext, compileContext } from '../decide/context.js'
import { Guard } from './guarded/guard.js'
import { lexiconSteps } from './guarded/lexicon.js'
import { PhraseIds } from './phrase-ids.js'
import { type Screen, screenOf } from './required.js'

/** A set of phrases, each of which is a hit of the group. Equal sets of different rules share one group. */
export type Group = number

interface ClauseBase {
  rule: CompiledRule
  /** The group whose hit makes the engine check the clause. */
  key: Group
}
export type Clause =
  | (ClauseBase & { kind: 'any' })
  | (ClauseBase & { kind: 'all'; groups: Int32Array; within: number; ordered: boolean })
  | (ClauseBase & { kind: 'pattern'; regex: RE2JS; reach: number; screen: Screen | undefined })

/**
 * A rule's `when`, by indexes of rules. It is checked part by part once all matches of a call are known, since one
 * message is no condition for another.
 */
export interface Condition {
  readonly all: readonly number[]
  readonly any: readonly number[]
  readonly none: readonly number[]
}

export interface CompiledRule extends Omit<Rule, 'context' | 'when'> {
  index: number
  /** Group of the phrases that cancel a match, or undefined. */
  cancel: Group | undefined
  /** The same for trusted texts (`Sink.trusted`). */
  cancelTrusted: Group | undefined
  context: CompiledContext
  when: Condition | undefined
  /** Whether it has phrases, patterns or a detector, and not only a condition. */
  matchesByItself: boolean
  /** For a rule that nominates: the encoder's rules of its category. */
  readBy: readonly CompiledRule[]
  /** `redact` replaces matches of these categories: so no place may be dropped. */
  keepsEveryPlace: boolean
}

export interface Policy {
  constitution: Constitution
  /** `name@version` */
  label: string
  rules: readonly CompiledRule[]
  /** The rules with a condition. */
  conditional: readonly CompiledRule[]
  phrases: Phrases
  /** The words of the phrases and the commonest of English, by which the views tell language from scrambled letters. */
  words: KnownWords
  /** Groups of phrase `id`: `groupList` from `groupStart[id]` to `groupStart[id + 1]`. */
  groupStart: Int32Array
  groupList: Int32Array
  groupCount: number
  /** Clauses by their key group. */
  clausesOf: readonly (readonly Clause[])[]
  detectors: readonly { detector: Detector; rules: readonly CompiledRule[]; floors: Floors }[]
  /** The rules by which the encoder decides. */
  readers: readonly CompiledRule[]
  /** Whether any of them judges texts together with the chat's system prompts. */
  asksBeside: boolean
  /** Whether any rule reads what users quote. */
  readsQuoted: boolean
  /** Finds guarded content in system prompts; undefined where no rule needs it. */
  guard: Guard | undefined
  /** The rules on guarded content. */
  guardRules: readonly CompiledRule[]
}

/** Numbers the distinct sets of phrases, and the distinct phrases. */
class GroupTable {
  readonly phrases = new PhraseIds()
  readonly #groups = new Map<string, Group>()
  readonly members: number[][] = []

  intern(list: readonly string[]): Group {
    const ids = [...new Set(list.map((phrase) => this.phrases.idOf(phrase)))].sort((a, b) => a - b)
    const key = ids.join()
    const known = this.#groups.get(key)
    if (known !== undefined) return known
    this.#groups.set(key, this.members.length)
    return this.members.push(ids) - 1
  }

  /** The groups of every phrase, packed. */
  pack(): { groupStart: Int32Array; groupList: Int32Array } {
    const of: Group[][] = Array.from({ length: this.phrases.size }, () => [])
    for (const [group, ids] of this.members.entries()) for (const id of ids) of[id]?.push(group)
    const groupStart = new Int32Array(of.length + 1)
    for (const [id, groups] of of.entries()) groupStart[id + 1] = (groupStart[id] ?? 0) + groups.length
    return { groupStart, groupList: Int32Array.from(of.flat()) }
  }
}

export function compilePolicy(constitution: Constitution, detectors: readonly Detector[] = allDetectors): Policy {
  return atOnce(compileSteps(constitution, detectors))
}

/** Longest slice on the event loop, ms: about the time of one request. */
const sliceMs = 2

/**
 * Compiles in slices, between which the event loop serves requests: a compilation takes as long as hundreds of them.
 */
export async function compileGently(
  constitution: Constitution,
  detectors: readonly Detector[] = allDetectors
): Promise<Policy> {
  const steps = compileSteps(constitution, detectors)
  for (;;) {
    const end = performance.now() + sliceMs
    do {
      const step = steps.next()
      if (step.done) return step.value
    } while (performance.now() < end)
    await setImmediate()
  }
}

function* compileSteps(constitution: Constitution, detectors: readonly Detector[]): Generator<void, Policy> {
  const table = new GroupTable()
  const rules: CompiledRule[] = []
  for (const [index, rule] of constitution.rules.entries()) {
    rules.push({
      ...rule,
      index,
      cancel: rule.unless.length === 0 ? undefined : table.intern(rule.unless),
      cancelTrusted: rule.unlessTrusted.length === 0 ? undefined : table.intern(rule.unlessTrusted),
      context: compileContext(rule.context),
      when: compileWhen(rule, constitution.rules),
      matchesByItself:
        rule.any.length + rule.all.length + rule.patterns.length > 0 ||
        rule.detector !== undefined ||
        rule.guarded !== undefined,
      readBy: [],
      keepsEveryPlace: rule.category === 'personal_data' || rule.category === 'secrets'
    })
    yield
  }
  const readers = rules.filter(({ detector }) => detector?.id === encoderId)
  for (const rule of rules) {
    if (rule.nominate) rule.readBy = readers.filter(({ category }) => category === rule.category)
  }
  const clauses: Clause[] = []
  for (const rule of rules) {
    clauses.push(...clausesOfRule(rule, table))
    yield
  }
  const clausesOf: Clause[][] = table.members.map(() => [])
  for (const clause of rarestKeys(clauses, table.members.length)) clausesOf[clause.key]?.push(clause)
  yield
  const groups = table.pack()
  yield
  const used = detectors
    .map((detector) => ({ detector, rules: rules.filter((rule) => rule.detector?.id === detector.id) }))
    .filter((entry) => entry.rules.length > 0)
    .map((entry) => ({ ...entry, floors: floorsOf(constitution, entry.detector, entry.rules) }))
  for (const { detector } of used) detector.prepare?.()
  yield
  const guardRules = rules.filter(({ guarded }) => guarded !== undefined && guarded.size > 0)
  const { guarded } = constitution
  const guard = guarded === undefined || guardRules.length === 0 ? undefined : new Guard(yield* lexiconSteps(guarded))
  yield
  const words = new KnownWords(table.phrases.phrases())
  yield
  shippedWordCosts()
  yield
  const phrases = yield* phraseSteps(table.phrases.patterns())
  return {
    constitution,
    label: `${constitution.name}@${constitution.version}`,
    rules,
    conditional: rules.filter(({ when }) => when !== undefined),
    words,
    phrases,
    ...groups,
    groupCount: table.members.length,
    clausesOf,
    detectors: used,
    readers,
    asksBeside: constitution.readers !== 'fast' && readers.some(asksBeside),
    readsQuoted: rules.some(({ roles }) => roles?.has('quoted') === true),
    guard,
    guardRules
  }
}

/** Whether a rule counts its detector's findings of this kind: it names the kind, or none. */
export function takesKind({ detector }: Pick<CompiledRule, 'detector'>, kind: string): boolean {
  return detector?.kinds?.has(kind) ?? true
}

/** Whether a rule judges texts together with the chat's system prompts. */
export function asksBeside({ detector }: CompiledRule): boolean {
  return detector?.kinds?.has('guarded') === true
}

/**
 * Whether the rule applies to this role in this direction. A model's earlier turn counts as an answer. A rule for all
 * roles reads what a user quotes as the user's words.
 */
export function appliesTo({ direction, roles }: CompiledRule, role: RuleRole, current: 'request' | 'answer'): boolean {
  const isInDirection =
    direction === 'both' || direction === current || (direction === 'answer' && role === 'assistant')
  return isInDirection && (roles === undefined ? role !== 'quoted' : roles.has(role))
}

function compileWhen({ when }: Rule, rules: readonly Rule[]): Condition | undefined {
  if (when === undefined) return undefined
  const indexes = (names: readonly string[]) => names.map((name) => rules.findIndex((rule) => rule.name === name))
  return { all: indexes(when.all), any: indexes(when.any), none: indexes(when.none) }
}

function clausesOfRule(rule: CompiledRule, table: GroupTable): Clause[] {
  const clauses: Clause[] = []
  if (rule.any.length > 0) clauses.push({ kind: 'any', rule, key: table.intern(rule.any) })
  if (rule.all.length > 0) {
    const groups = Int32Array.from(rule.all, (group) => table.intern(group))
    clauses.push({ kind: 'all', rule, key: groups[0]!, groups, within: rule.within, ordered: rule.ordered })
  }
  for (const { anchors, regex, reach } of rule.patterns) {
    const compiled = RE2JS.compile(regex, RE2JS.CASE_INSENSITIVE)
    clauses.push({ kind: 'pattern', rule, key: table.intern(anchors), regex: compiled, reach, screen: screenOf(regex) })
  }
  return clauses
}

/** Keys every `all` by the group that the fewest clauses use: "how to" must not make the engine look at every rule. */
function rarestKeys(clauses: readonly Clause[], groupCount: number): Clause[] {
  const uses = new Array<number>(groupCount).fill(0)
  for (const clause of clauses) {
    if (clause.kind === 'all') for (const group of clause.groups) uses[group]!++
  }
  return clauses.map((clause) => {
    if (clause.kind !== 'all') return clause
    const key = clause.groups.reduce((best, group) => (uses[group]! < uses[best]! ? group : best))
    return { ...clause, key }
  })
}

/** Bisection steps over 0 to 1: as fine as displayed scores. */
const steps = 14

export function floorsOf(
  { bands, categories }: Pick<Constitution, 'bands' | 'categories'>,
  { kinds }: Detector,
  rules: readonly CompiledRule[]
): Floors {
  const floors = new Map<string, number>()
  for (const kind of kinds) {
    const own = rules.filter((rule) => takesKind(rule, kind))
    for (const category of new Set(own.map((rule) => rule.category))) {
      const { high, middle } = categories[category]
      if (high === 'permit' && middle === 'permit') continue
      const band = middle === 'permit' ? bands.high : bands.middle
      const least = leastConfidence(
        own.filter((rule) => rule.category === category),
        band
      )
      if (least !== undefined) floors.set(kind, Math.min(floors.get(kind) ?? 1, least))
    }
  }
  return floors
}

/** The least confidence at which a rule of one kind and category reaches a band: the strongest of them counts. */
function leastConfidence(rules: readonly CompiledRule[], band: number): number | undefined {
  const score = (confidence: number) =>
    Math.max(
      0,
      ...rules
        .filter(({ detector }) => detector!.minConfidence <= confidence)
        .map(({ weight, context }) => (context.forbid.length > 0 ? 1 : weight * confidence))
    )
  if (score(1) < band) return undefined
  let [low, high] = [0, 1]
  for (let step = 0; step < steps; step++) {
    const middle = (low + high) / 2
    if (score(middle) >= band) high = middle
    else low = middle
  }
  return low
}
