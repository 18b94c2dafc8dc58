/**
 * Folding: normalises a text for matching phrases. Letters and digits in lower case and without Latin or Greek accents;
 * apostrophes inside a word are dropped (`don't` is `dont`); every run of anything else is one space; one space stands
 * at each end, and between a script without spaces and another one, so that ` kill ` is a whole word everywhere.
 */
import { DROP, foldAstral, foldUnit, SPACE, UNSPACED } from './characters.js'
import { serves, sizeFor, UnitReader } from './units.js'
import { wordReach } from './word-hash.js'

export interface Span {
  start: number
  end: number
}

/** Set beside the answers of `foldUnit`: not a letter. */
const GAP = (1 << 17) | SPACE
/** Needs special treatment; alone: not computed yet. */
const SPECIAL = 1 << 18
const APOSTROPHE = SPECIAL | 1
const SURROGATE = SPECIAL | 2
const DROPPED = SPECIAL | 3

/** Characters that the fast loop skips; after a script without spaces it skips everything. */
const rare = SPECIAL | UNSPACED
const any = -1

/** Folded value by UTF-16 unit. */
const answers = new Int32Array(65536).fill(SPECIAL)
for (let code = 0; code < 128; code++) ask(code)
for (const code of [39, 0x2018, 0x2019, 0x2bc, 0xff07]) answers[code] = APOSTROPHE
answers.fill(SURROGATE, 0xd800, 0xe000)

function ask(code: number): number {
  const folded = foldUnit(code)
  const answer = folded === DROP ? DROPPED : folded === SPACE ? GAP : folded
  answers[code] = answer
  return answer
}

/** The answer for the character at `i` where it is none of the ordinary ones. */
function resolve(answer: number, text: string, i: number): number {
  if (answer === APOSTROPHE) return joins(text, i) ? DROPPED : GAP
  if (answer !== SURROGATE) return answer === DROPPED ? DROPPED : ask(text.charCodeAt(i))
  const isFirst = text.charCodeAt(i) < 0xdc00
  // Each unit of a pair is asked about by itself, so that the loop goes from unit to unit; a lone one is no letter.
  const point = text.codePointAt(isFirst ? i : i - 1) ?? 0
  const letter = point > 0xffff ? foldAstral(point) : undefined
  if (letter === undefined) return GAP
  return (isFirst ? letter.first : letter.second) | (letter.unspaced ? UNSPACED : 0)
}

/**
 * One folded text at a time, with the way back to the text it was made of. Its arrays are reused, so that a pass over a
 * text allocates nothing; what it holds is good until the next `fold`.
 */
export class Folder {
  /** The folded text: `length` units. */
  units = new Uint16Array(0)
  length = 0
  /** Where in `units` the space before each word stands; after the last of them, the space at the end. */
  spaces = new Int32Array(0)
  words = 0
  /** Whether it holds a letter of a script without spaces. */
  hasUnspaced = false
  /** The units of the text that was folded, and by unit of the folded one where in the text it stands. */
  source: Uint16Array = new Uint16Array(0)
  offsets = new Int32Array(0)
  /** The bytes of `units`, to read two at a time. */
  view = new DataView(this.units.buffer)
  #text = ''
  readonly #reader = new UnitReader()

  /** Linear; 3 to 4 ns a character of prose. */
  fold(text: string): this {
    const input = this.#reader.read(text)
    const { length } = text
    this.#reserve(length)
    this.#text = text
    this.source = input
    const { units, spaces } = this
    const offsets = this.offsets
    let n = 1
    let words = 0
    units[0] = SPACE
    offsets[0] = 0
    spaces[0] = 0
    let leave = rare
    let wasGap = 1
    let hasUnspaced = 0
    for (let i = 0; i < length; i++) {
      let answer = answers[input[i]!]!
      if ((answer & leave) !== 0) {
        if (answer >= SPECIAL) answer = resolve(answer, text, i)
        if (answer === DROPPED) continue
        const script = answer === GAP || (answer & UNSPACED) === 0 ? rare : any
        if (wasGap === 0 && answer !== GAP && script !== leave) {
          spaces[++words] = n
          offsets[n] = i
          units[n++] = SPACE
        }
        leave = script
        hasUnspaced |= answer & UNSPACED
      }
      // Branch-free, since the next letter or space is unpredictable.
      const isGap = (answer >> 17) & 1
      if ((isGap & wasGap) !== 0) continue
      wasGap = isGap
      spaces[words + 1] = n
      words += isGap
      offsets[n] = i
      // The array keeps the low sixteen bits: the letter alone.
      units[n++] = answer
    }
    if (wasGap === 0) {
      spaces[++words] = n
      offsets[n] = length
      units[n++] = SPACE
    }
    this.length = n
    this.words = words
    this.hasUnspaced = hasUnspaced !== 0
    return this
  }

  /** The characters of the text behind folded offsets [from, to), without the separators at either end. */
  span(from: number, to: number): Span {
    const { units, length } = this
    const offsets = this.offsets
    let first = Math.min(Math.max(from, 0), length)
    let after = Math.min(Math.max(to, first), length)
    while (first < after && units[first] === SPACE) first++
    while (after > first && units[after - 1] === SPACE) after--
    const start = offsets[Math.min(first, length - 1)]!
    if (after === first) return { start, end: start }
    let end = offsets[after - 1]! + 1
    // Accents dropped after the last letter belong to it.
    while (end < this.#text.length && foldUnit(this.#text.charCodeAt(end)) === DROP) end++
    return { start, end }
  }

  /** The first folded offset that stands for `offset` of the text or for something after it. */
  foldedOffset(offset: number): number {
    let low = 0
    let high = this.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.span(middle, middle + 1).start >= offset) high = middle
      else low = middle + 1
    }
    return low
  }

  toString(): string {
    return Buffer.from(this.units.buffer, 0, this.length * 2).toString('utf16le')
  }

  /** A space may come between any two characters where scripts change. */
  #reserve(length: number): void {
    // A word is read in one piece, whether it ends earlier or not.
    const needed = length * 2 + 2 + wordReach
    if (serves(this.units.length, needed)) return
    const size = sizeFor(needed)
    this.units = new Uint16Array(size)
    this.view = new DataView(this.units.buffer)
    this.offsets = new Int32Array(size)
    this.spaces = new Int32Array(size)
  }
}

const shared = new Folder()

/** The folded reading alone. */
export function foldText(text: string): string {
  return shared.fold(text).toString()
}

/** A phrase in the same folding, without the spaces at its ends. A trailing `*` is not kept: see the automaton. */
export function foldPhrase(phrase: string): string {
  return foldText(phrase).trim()
}

/**
 * Whether the apostrophe at `i` stands inside one word: before a contraction's ending (`t s d m re ve ll`) or after a
 * first part of one or two letters (`o'`, `l'`, `qu'`). Elsewhere it separates, or `kill'yourself` would be one word.
 */
function joins(text: string, i: number): boolean {
  if (!letterAt(text, i - 1) || !letterAt(text, i + 1)) return false
  if (!letterAt(text, i - 2) || !letterAt(text, i - 3)) return true
  const size = letterAt(text, i + 2) ? (letterAt(text, i + 3) ? 0 : 2) : 1
  return size > 0 && endings.has(text.slice(i + 1, i + 1 + size).toLowerCase())
}

const endings: ReadonlySet<string> = new Set(['t', 's', 'd', 'm', 're', 've', 'll'])

/** Letters alone: a digit of ASCII is none here. */
function letterAt(text: string, i: number): boolean {
  if (i < 0 || i >= text.length) return false
  const code = text.charCodeAt(i)
  const lower = code | 32
  return code < 128 ? lower >= 97 && lower <= 122 : code < 0xd800 && foldUnit(code) > SPACE
}
