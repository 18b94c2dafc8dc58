/**
 * Detects requests about sexual contact with, pictures of, or secrecy, trust and meetings with a child or a person of a
 * stated age under 18. A finding combines a mention of a minor with an intent within fifteen words (fewer beyond the
 * end of a sentence); an intent is several senses of `children/words.ts` together. Texts that protect a child are never
 * refused: they pass, or go to a person where a request stands beside them.
 */
import { isUnspaced } from '../text/characters.js'
import { Folder, foldPhrase } from '../text/fold.js'
import { HitList, type Pattern } from '../text/hit-list.js'
import { atOnce, type Phrases, phraseSteps } from '../text/phrases.js'
import { lastWord } from '../text/sentence.js'
import { ages, ownAges } from './children/ages.js'
import { type Sense, senses } from './children/words.js'
import type { Detector, Finding } from './detector.js'
import { withoutOverlaps } from './span.js'

type Read = Sense | 'age' | 'own'

const names = [...(Object.keys(senses) as Sense[]), 'age', 'own'] as const
const numberOf = Object.fromEntries(names.map((name, i) => [name, i])) as Record<Read, number>

/** Words between a mention and an intent; a word of a script without spaces counts as two characters. */
const near = 15
/** The end of a sentence counts as this many words, since the child may be mentioned in the sentence before. */
const sentenceGap = 2
/** Words around a mention in which protective words are searched, also in neighbouring sentences. */
const around = 40
/** Characters of the longest phrase in a script without spaces. */
const longestUnspaced = 12
/** Confidence at which a person decides. */
const doubtful = 0.6
const passing = 0.3

/** Arabic joins the article and short words to the next. */
const joinedBefore = ['', 'ال', 'لل', 'ل', 'ب', 'بال', 'و', 'وال', 'عن ال']
const joinedAfter = ['', 'ه', 'ها', 'ي', 'نا', 'هم']

function patterns(): Pattern[] {
  const all: Pattern[] = []
  const seen = new Set<string>()
  const add = (text: string, id: number) => {
    const stem = foldPhrase(text)
    const phrase = text.trim().endsWith('*') ? `${stem}*` : stem
    if (stem === '' || seen.has(`${id} ${phrase}`)) return
    seen.add(`${id} ${phrase}`)
    all.push({ phrase, id })
  }
  for (const name of Object.keys(senses) as Sense[]) {
    for (const phrase of senses[name].split(/,\s*/)) {
      add(phrase, numberOf[name])
      if (!/^[\u0620-\u06ff]{3,}$/.test(phrase)) continue
      for (const before of joinedBefore) add(before + phrase, numberOf[name])
      for (const after of joinedAfter) add(phrase + after, numberOf[name])
    }
  }
  for (const phrase of ages()) add(phrase, numberOf.age)
  for (const phrase of ownAges()) add(phrase, numberOf.own)
  return all
}

let phrases: Phrases | undefined
const ownFolder = new Folder()
const hits = new HitList()
const nothing: readonly Finding[] = []

function open(): Phrases {
  phrases ??= atOnce(phraseSteps(patterns()))
  return phrases
}

/** Whether a sense occurs near one mention of a minor. */
type Near = (name: Read) => boolean
interface Judged {
  kind: string
  confidence: number
}

export const children: Detector = {
  id: 'children',
  kinds: ['sexual_contact', 'child_pictures', 'child_secrecy', 'child_meeting'],
  readsWords: true,
  growsFrom(text, before) {
    return Math.max(0, undecided(before + text) - before.length)
  },
  prepare() {
    open()
  },
  find(text, given) {
    const folded = given ?? ownFolder.fold(text)
    const all = open()
    hits.count = 0
    all.scan(folded, hits)
    if (!mentions()) return nothing
    return withoutOverlaps(judge(text, folded))
  }
}

/** The place of the earliest word that may still become a finding with later text. */
function undecided(text: string): number {
  const folded = ownFolder.fold(text)
  const all = open()
  hits.count = 0
  all.scan(folded, hits)
  // A phrase may still go on: a row of words, or characters of a script without spaces.
  const under = all.underWay
  let limit = Math.min(lastWord(text), Math.max(0, text.length - longestUnspaced))
  if (under >= 0) limit = Math.min(limit, folded.span(under, under + 1).start)
  const at = lay(text, folded)
  const end = at.length === 0 ? 0 : lengthInWords(folded, at[at.length - 1]!)
  let first = hits.count
  for (let i = hits.count - 1; i >= 0 && end - at[i]! <= near + around; i--) if (isHalf(i)) first = i
  if (first < hits.count) limit = Math.min(limit, folded.span(hits.from[first]!, hits.to[first]!).start)
  // A finding so far leaves in one piece.
  const found = mentions() ? judge(text, folded) : []
  for (let i = found.length - 1; i >= 0; i--) if (found[i]!.end > limit) limit = Math.min(limit, found[i]!.start)
  return limit
}

/** Where the text ends, on the scale of `lay`: what the last hit has, and the words after it. */
function lengthInWords(folded: Folder, last: number): number {
  let words = last
  for (let word = folded.words - 1; word >= 0 && folded.spaces[word]! >= hits.to[hits.count - 1]!; word--)
    words += lengthOf(folded, word)
  return words
}

/** Most texts stop here: without a minor, or without an intent. */
function mentions(): boolean {
  let minor = false
  let intent = false
  for (let i = 0; i < hits.count; i++) {
    const id = hits.id[i]!
    if (isMention[id] === 1) minor = true
    else if (isIntent[id] === 1) intent = true
    if (minor && intent) return true
  }
  return false
}

const flags = (chosen: readonly Read[]) => Uint8Array.from(names, (name) => (chosen.includes(name) ? 1 : 0))
const isMention = flags(['minor', 'age', 'own', 'kin', 'youth'])
const isIntent = flags(['sexual', 'explicit', 'undressed', 'hidden', 'alone', 'trust'])

/** Whether a hit is part of a mention or of an intent; the other senses only say which. */
function isHalf(hit: number): boolean {
  const id = hits.id[hit]!
  return isMention[id] === 1 || isIntent[id] === 1
}

/** Per hit the word at which it ends; sentences stand further apart than their words. */
function lay(text: string, folded: Folder): Float64Array {
  const at = new Float64Array(hits.count)
  const ends = [...text.matchAll(sentenceEnd)].map(({ index }) => index)
  let word = 0
  let position = 0
  let ended = 0
  for (let i = 0; i < hits.count; i++) {
    const to = hits.to[i]!
    while (word < folded.words && folded.spaces[word + 1]! < to) position += lengthOf(folded, word++)
    const inside = to - folded.spaces[word]! - 1
    const offset = folded.offsets[to - 1]!
    while (ended < ends.length && ends[ended]! < offset) ended++
    at[i] = position + ended * sentenceGap + (isUnspaced(folded.units[folded.spaces[word]! + 1]!) ? inside / 2 : 1)
  }
  return at
}

/** A mark that ends a sentence: not the point of an abbreviation, after which a small letter follows. */
const sentenceEnd = /[.!?…](?=["')\]]?\s+[^\p{Ll}\s])|[。！？]|\n(?=\s*\n)|\n(?=[-*#\d])/gu

function lengthOf(folded: Folder, word: number): number {
  const from = folded.spaces[word]! + 1
  return isUnspaced(folded.units[from]!) ? (folded.spaces[word + 1]! - from) / 2 : 1
}

function judge(text: string, folded: Folder): Finding[] {
  const at = lay(text, folded)
  const close = new Window(at, near)
  const wide = new Window(at, around)
  const found: Finding[] = []
  for (let i = 0; i < hits.count; i++) {
    if (isMention[hits.id[i]!] !== 1) continue
    close.move(i)
    wide.move(i)
    const judged = intent(
      (name) => close.has(name),
      (name) => wide.has(name)
    )
    if (judged === undefined || judged.confidence <= passing) continue
    // The finding covers both halves; a stream holds back from the first one.
    let first = close.low
    while (!isHalf(first)) first++
    let last = close.high - 1
    while (!isHalf(last)) last--
    const { start } = folded.span(hits.from[first]!, hits.to[first]!)
    const { end } = folded.span(hits.from[last]!, hits.to[last]!)
    found.push({ ...judged, start, end: Math.max(end, start + 1) })
  }
  return found
}

/** A sliding window of hits around one hit, with counts by sense; both ends only move forward. */
class Window {
  low = 0
  high = 0
  readonly #counts = new Int32Array(names.length)
  readonly #at: Float64Array
  readonly #reach: number

  constructor(at: Float64Array, reach: number) {
    this.#at = at
    this.#reach = reach
  }

  move(hit: number): void {
    while (this.high < hits.count && (this.high <= hit || this.#reaches(hit, this.high)))
      this.#counts[hits.id[this.high++]!]!++
    while (!this.#reaches(hit, this.low)) this.#counts[hits.id[this.low++]!]!--
  }

  has(name: Read): boolean {
    return this.#counts[numberOf[name]]! > 0
  }

  #reaches(hit: number, other: number): boolean {
    return Math.abs(this.#at[hit]! - this.#at[other]!) <= this.#reach
  }
}

/** The intent of the words around one mention, with its confidence. */
function intent(has: Near, beside: Near): Judged | undefined {
  const young = has('minor') || has('age') || has('own')
  const known = young || has('kin')
  const asks = has('request') || (has('inducing') && (has('self') || has('ours')))
  const bodily = sexual(has, young, known, asks)
  const judged = bodily ?? strongest(meeting(has, young, known, asks), secret(has, young, known, asks))
  if (judged === undefined) return undefined
  const { kind, confidence } = judged
  return { kind, confidence: Math.min(confidence, most(has, beside, bodily !== undefined)) }
}

function strongest(one: Judged | undefined, other: Judged | undefined): Judged | undefined {
  return one === undefined || (other !== undefined && other.confidence > one.confidence) ? other : one
}

/** The confidence that the frame of a request leaves to an intent. */
function most(has: Near, beside: Near, isBodily: boolean): number {
  const isBetween = has('ours') && (has('inducing') || has('hidden'))
  // Protective texts are never refused; a request that only claims protection goes to a person.
  if (beside('protective')) return isBetween ? doubtful : passing
  // A minor's question about themself goes to a person.
  if (beside('own')) return doubtful
  if (beside('office')) return isBodily || isBetween ? doubtful : passing
  if (isBodily) return 1
  if (has('technical') && !isBetween) return passing
  if (has('innocent') || has('fromMinor') || beside('fiction')) return isBetween || has('age') ? doubtful : passing
  return has('parenting') ? doubtful : 1
}

function sexual(has: Near, young: boolean, known: boolean, asks: boolean): Judged | undefined {
  if (!known) return undefined
  if (has('explicit') || (has('picture') && has('undressed'))) {
    return { kind: 'child_pictures', confidence: young ? (asks ? 0.95 : 0.5) : asks ? doubtful : passing }
  }
  if (!has('sexual')) {
    return has('undressed') && young && has('request') ? { kind: 'child_pictures', confidence: doubtful } : undefined
  }
  return { kind: 'sexual_contact', confidence: young ? (asks ? 0.9 : 0.5) : asks ? doubtful : passing }
}

/** Secrecy from the child's guardians, or between the child and the speaker. */
function secret(has: Near, young: boolean, known: boolean, asks: boolean): Judged | undefined {
  if (!has('hidden') || !asks) return undefined
  const between = has('contact') || has('alone') || has('trust') || has('gift')
  const fromParents = has('guardian') && (known || has('youth'))
  const fromOthers = has('others') && young
  const isBought = has('gift') && has('inducing')
  const isOurs =
    (known && has('ours') && has('inducing')) ||
    (young && (has('ours') || isBought || (has('self') && has('inducing') && between)))
  if (!fromParents && !fromOthers && !isOurs) return undefined
  const isSure = has('ours') || isBought || (between && (has('inducing') || has('meet') || has('self')))
  return {
    kind: 'child_secrecy',
    confidence: isSure ? 0.9 : has('inducing') ? 0.8 : between && has('contact') ? doubtful : passing
  }
}

function meeting(has: Near, young: boolean, known: boolean, asks: boolean): Judged | undefined {
  if (!asks || !(young || (known && has('hidden')))) return undefined
  const kind = 'child_meeting'
  const isApart = has('alone') || has('hidden')
  if (isApart && has('meet')) return { kind, confidence: 0.92 }
  if (isApart && has('trust')) return { kind, confidence: 0.85 }
  if (has('alone') && has('inducing')) return { kind, confidence: 0.85 }
  if (!has('trust')) return undefined
  return { kind, confidence: has('age') ? doubtful : passing }
}
