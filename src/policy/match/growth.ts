/**
 * Finds the settled part of an unfinished text: before its end no rule can begin a match any more, whatever follows. It
 * follows from the compiled rules: unfinished phrases, groups of an `all` that wait for others, patterns whose
 * automaton is alive at the end, and the detectors' own statements. Every reading of the text counts, and so do
 * scrambled words, which may begin another reading.
 */
import type { Detector, Floors } from '../../detectors/detector.js'
import { disorderStart } from '../../text/disorder.js'
import { lastWord, nameStart, sentenceStart } from '../../text/sentence.js'
import type { View } from '../../text/view.js'
import { readingsOf } from '../../text/views.js'
import type { Growing } from '../evaluation.js'
import { appliesTo, type CompiledRule, floorsOf, type Group, type Policy } from './compile.js'
import type { Guarded } from './guarded/find.js'
import { Hits } from './hits.js'
import { PartialMatch } from './partial-match.js'

/** The start of the unfinished sentence of a text; everything before it is judged as it stands. */
export { sentenceStart }

/** Characters of scripts without spaces that one rule may span: they have no words by which to count. */
const longestUnspaced = 120

/** A pattern that may be unfinished at the end of a text. */
interface Unfinished {
  /** Undefined where its automaton cannot be run: it may begin anywhere within its reach. */
  partial: PartialMatch | undefined
  anchors: Group
  /** UTF-16 units before an anchor, at hand or still to come, within which it may begin. */
  reach: number
  /** UTF-16 units of the longest anchor. */
  anchor: number
}

/** The checks that hold a text back, compiled for one kind of text. */
interface Reach {
  /** Per group: how many words may follow the first word of a hit while an `all` is still possible; -1: none. */
  readonly words: Int32Array
  /** The greatest of these numbers. */
  readonly most: number
  readonly patterns: readonly Unfinished[]
  readonly detectors: readonly { detector: Detector; floors: Floors }[]
  /** Set where a rule depends on findings elsewhere in the text: then nothing is settled before the end. */
  readonly isConditional: boolean
}

/** One per policy: keeps the buffers that scanning reuses. */
export class Growth {
  readonly #policy: Policy
  readonly #hits: Hits
  readonly #reaches = new Map<string, Reach>()

  constructor(policy: Policy) {
    this.#policy = policy
    this.#hits = new Hits(policy)
  }

  /** @returns UTF-16 units from the start of the text */
  settled(text: string, growing: Growing): number {
    const reach = this.#reachFor(growing)
    if (reach.isConditional) return 0
    const cut = lastWord(text)
    if (cut === 0) return 0
    let limit = disorderStart(text, cut, this.#policy.words)
    if (growing.redact.includes('names')) limit = Math.min(limit, nameStart(text))
    const known = cut === text.length ? text : text.slice(0, cut)
    const { guard } = this.#policy
    const guarded = growing.prompts === undefined ? undefined : guard?.read(growing.prompts)
    const { views, complete } = readingsOf(known, this.#policy.words)
    if (!complete) return 0
    // Another reading of an unfinished sentence is only a guess.
    if (views.length > 1 && reach.detectors.some(({ detector }) => detector.readsWords === true))
      limit = Math.min(limit, sentenceStart(text))
    for (const view of views) {
      if (limit <= 0) return 0
      limit = Math.min(limit, this.#inView(view, view.layer === 'plain' ? text : view.text, reach, guarded))
    }
    // The most expensive check comes last.
    for (const { detector, floors } of reach.detectors) {
      if (limit <= 0) return 0
      limit = Math.min(limit, detector.growsFrom?.(text, growing.before ?? '', floors) ?? 0)
    }
    return Math.max(0, limit)
  }

  /** @param text the view's text, with the possibly unfinished word at its end */
  #inView(view: View, text: string, reach: Reach, guarded: Guarded | undefined): number {
    const byPhrases = this.#byPhrases(view.text, reach)
    // The phrases have folded the view just now.
    const kept = guarded === undefined ? byPhrases : this.#policy.guard!.settled(this.#hits.folded, guarded)
    const start = Math.min(byPhrases, kept, this.#byPatterns(text, reach))
    return start >= view.text.length ? Number.POSITIVE_INFINITY : view.textSpan(start, view.text.length).start
  }

  #byPhrases(text: string, { words, most }: Reach): number {
    const hits = this.#hits
    const { groupStart, groupList, phrases } = this.#policy
    hits.scan(text)
    const { folded } = hits
    let limit = text.length
    if (folded.hasUnspaced) limit -= longestUnspaced
    const underWay = phrases.underWay
    if (underWay >= 0) limit = Math.min(limit, hits.span(underWay, underWay + 1).start)
    for (let hit = hits.count - 1; hit >= 0; hit--) {
      const ago = folded.words - hits.wordFrom(hit)
      if (folded.words - hits.wordTo(hit) > most) break
      const id = hits.id[hit]!
      for (let i = groupStart[id]!; i < groupStart[id + 1]!; i++) {
        if (ago > words[groupList[i]!]!) continue
        limit = Math.min(limit, hits.span(hits.from[hit]!, hits.to[hit]!).start)
        break
      }
    }
    return limit
  }

  /** Follows the phrases of the same view, which it takes the anchors from. */
  #byPatterns(text: string, { patterns }: Reach): number {
    let limit = text.length
    for (const pattern of patterns) {
      const alive = pattern.partial?.from(text) ?? 0
      if (alive < limit) limit = Math.min(limit, Math.max(alive, this.#earliest(text, pattern)))
    }
    return limit
  }

  /**
   * The earliest place at which the pattern is still searched: around present anchors, and around one still to come.
   */
  #earliest(text: string, { anchors, reach, anchor }: Unfinished): number {
    const hits = this.#hits
    const underWay = this.#policy.phrases.underWay
    const next = underWay < 0 ? text.length : hits.span(underWay, underWay + 1).start
    let earliest = Math.min(next, text.length - anchor) - reach
    const windows: number[] = []
    for (let node = hits.first(anchors); node >= 0; node = hits.next(node)) windows.push(hits.hitOf(node))
    // Touching windows are merged.
    for (const hit of windows.reverse()) {
      const { start, end } = hits.span(hits.from[hit]!, hits.to[hit]!)
      if (end + reach >= earliest) earliest = Math.min(earliest, start - reach)
    }
    return earliest
  }

  #reachFor(growing: Growing): Reach {
    const key = `${growing.role} ${growing.direction} ${growing.redact.join()}`
    let reach = this.#reaches.get(key)
    if (reach === undefined) {
      reach = compileReach(this.#policy, growing)
      this.#reaches.set(key, reach)
    }
    return reach
  }
}

function compileReach(policy: Policy, growing: Growing): Reach {
  const counts = (rule: CompiledRule) => bears(policy, rule, growing)
  const words = new Int32Array(policy.groupCount).fill(-1)
  const patterns: Unfinished[] = []
  for (const clause of policy.clausesOf.flat()) {
    if (!counts(clause.rule)) continue
    if (clause.kind === 'pattern') {
      const anchor = clause.rule.patterns
        .flatMap(({ anchors }) => anchors)
        .reduce((most, each) => Math.max(most, each.length), 0)
      patterns.push({ partial: PartialMatch.of(clause.regex), anchors: clause.key, reach: clause.reach, anchor })
    }
    if (clause.kind !== 'all') continue
    // Where order counts, a match begins with the first group.
    const waiting = clause.ordered ? clause.groups.subarray(0, 1) : clause.groups
    // The next word is the earliest possible end of a match.
    for (const group of waiting) words[group] = Math.max(words[group]!, clause.within - 2)
  }
  const detectors = policy.detectors
    .filter(({ rules }) => rules.some(counts))
    .map(({ detector, rules, floors }) => {
      const own = floorsOf(policy.constitution, detector, rules.filter(counts))
      // For each kind the floor of the whole policy, at which its findings are shown.
      return { detector, floors: new Map([...own.keys()].map((kind) => [kind, floors.get(kind)!])) }
    })
  return {
    words,
    most: words.reduce((most, each) => Math.max(most, each), -1),
    patterns,
    detectors,
    isConditional: policy.conditional.some((rule) => counts(rule) && isOpen(policy, rule, growing))
  }
}

/** Whether a match of the rule in such a text could stop it or be redacted. */
function bears({ constitution }: Policy, rule: CompiledRule, { role, direction, redact }: Growing): boolean {
  if (!appliesTo(rule, role, direction)) return false
  const { high, middle } = constitution.categories[rule.category]
  return high !== 'permit' || middle !== 'permit' || redact.includes(rule.category)
}

/** Whether the text can decide the rule's condition: one of the named rules could match in it. */
function isOpen({ rules }: Policy, { when }: CompiledRule, { role, direction }: Growing): boolean {
  const named = when === undefined ? [] : [...when.all, ...when.any, ...when.none]
  return named.some((index) => appliesTo(rules[index]!, role, direction))
}
