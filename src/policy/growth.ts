/**
 * How far a text that is still being written is settled: from before that place no rule can begin to match any more,
 * whatever follows. Derived from the compiled rules: phrases under way, groups of an `all` that wait for the others,
 * patterns by their reach, detectors by what they say of themselves.
 */
import type { KnownWords } from '../text/known-words.js'
import { lastWord } from '../text/sentence.js'
import type { CompiledRule, Policy } from './compile.js'
import type { Growing } from './evaluation.js'
import { Hits } from './hits.js'

/** What a rule's phrase may be in another reading of the text: 60 letters of it as bits take this long, in UTF-16 units. */
const longestEncoded = 600
/** Words in disorder before the end that may be the beginning of something encoded. */
const fewestStrange = 4
/** Characters of scripts without spaces that one rule may span: they have no words by which to count. */
const longestUnspaced = 120

/** What holds a text back, compiled for one kind of text. */
interface Reach {
  /** Per group: words from a hit of it to the end of the longest `all` that it could still complete; 0: none. */
  readonly words: Int32Array
  /** The greatest of them. */
  readonly most: number
  /** UTF-16 units that a pattern may begin before the end of what is known. */
  readonly units: number
  /** From where a detector's finding may still change. */
  readonly detectors: readonly ((text: string) => number)[]
  /** A rule on what is found elsewhere in the text: nothing is settled before the end. */
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
    let limit = Math.min(cut, text.length - reach.units)
    for (const from of reach.detectors) {
      if (limit <= 0) return 0
      limit = Math.min(limit, from(text))
    }
    if (limit <= 0) return 0
    limit = Math.min(limit, strangeEnd(text, cut, this.#policy.words))
    if (limit <= 0) return 0
    return Math.max(0, Math.min(limit, this.#byPhrases(text.slice(0, cut), reach)))
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
        if (words[groupList[i]!]! < ago) continue
        limit = Math.min(limit, hits.span(hits.from[hit]!, hits.to[hit]!).start)
        break
      }
    }
    return limit
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
  const words = new Int32Array(policy.groupCount)
  let units = 0
  for (const clause of policy.clausesOf.flat()) {
    if (!counts(clause.rule)) continue
    if (clause.kind === 'pattern') {
      const anchor = clause.rule.patterns
        .flatMap(({ anchors }) => anchors)
        .reduce((most, a) => Math.max(most, a.length), 0)
      units = Math.max(units, clause.reach + anchor)
    }
    if (clause.kind !== 'all') continue
    const waiting = clause.ordered ? clause.groups.subarray(0, -1) : clause.groups
    for (const group of waiting) words[group] = Math.max(words[group]!, clause.within)
  }
  const detectors = policy.detectors
    .filter(({ rules }) => rules.some(counts))
    .map(({ detector }) => detector.growsFrom?.bind(detector) ?? (() => 0))
  return {
    words,
    most: words.reduce((most, each) => Math.max(most, each), 0),
    units,
    detectors,
    isConditional: policy.conditional.some(counts)
  }
}

/** Whether a match of the rule in such a text could stop it, or be replaced. */
function bears({ constitution }: Policy, rule: CompiledRule, { role, direction, redact }: Growing): boolean {
  if (rule.direction !== 'both' && rule.direction !== direction) return false
  if (rule.roles !== undefined && !rule.roles.has(role)) return false
  const { high, middle } = constitution.categories[rule.category]
  return high !== 'permit' || middle !== 'permit' || redact.includes(rule.category)
}

/** Where the words in disorder at the end of the text begin, or its end where there are none. */
function strangeEnd(text: string, cut: number, known: KnownWords): number {
  const least = Math.max(0, cut - longestEncoded)
  let start = text.length
  let strange = 0
  let ordinary = 0
  let end = cut
  while (end > least && ordinary < 2) {
    while (end > 0 && /\s/.test(text[end - 1]!)) end--
    let from = end
    while (from > 0 && !/\s/.test(text[from - 1]!)) from--
    if (from === end) break
    if (isOrdinary(text.slice(from, end), known)) {
      ordinary++
    } else {
      ordinary = 0
      strange++
      start = from
    }
    end = from
  }
  return strange >= fewestStrange ? start : text.length
}

function isOrdinary(token: string, known: KnownWords): boolean {
  const word = token.replace(/^[^A-Za-z]+|[^A-Za-z]+$/g, '')
  return word.length > 1 && known.has(word.toLowerCase())
}
