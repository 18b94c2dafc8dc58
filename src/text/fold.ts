/**
 * Folding: the reading in which phrases are matched. Letters and digits in lower case and without Latin or Greek accents;
 * apostrophes inside a word are dropped (`don't` is `dont`); every run of anything else is one space; one space stands at
 * each end, and between a script without spaces and another one, so that ` kill ` is a whole word everywhere.
 */
import { DROP, foldAstral, foldUnit, SPACE, UNSPACED } from './characters.js'

export interface Span {
  start: number
  end: number
}

export interface Folding {
  readonly folded: string
  /** Where folded offsets lie in the text that was folded. */
  readonly map: FoldMap
}

/** Per ASCII code: the folded code, 0 for "anything else"; apostrophes are decided in place. */
const ascii = new Uint8Array(128)
for (let code = 48; code < 58; code++) ascii[code] = code
for (let code = 97; code < 123; code++) {
  ascii[code] = code
  ascii[code - 32] = code
}

const APOSTROPHE = 39

/**
 * Scratch that every call reuses; it grows to the longest text seen, at most 1 MiB of it is kept. No call yields while it
 * works, so two never meet in it.
 */
const keptUnits = 1 << 20
let bytes = Buffer.allocUnsafeSlow(1 << 14)
let units = new Uint16Array(0)

export function fold(text: string): Folding {
  return { folded: foldText(text), map: new FoldMap(text) }
}

/** A phrase in the same folding, without the spaces at its ends. A trailing `*` is not kept: see the automaton. */
export function foldPhrase(phrase: string): string {
  return foldText(phrase).trim()
}

/** The folded reading alone. Linear; about 5 ns a character for ASCII. */
export function foldText(text: string): string {
  const length = text.length
  const needed = length + 2
  const out = needed <= bytes.length ? bytes : growBytes(needed)
  let n = 1
  out[0] = SPACE
  let inWord = false
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code > 127) return foldWide(text, undefined)
    const folded = ascii[code]!
    if (folded !== 0) {
      out[n++] = folded
      inWord = true
    } else if (inWord && !(code === APOSTROPHE && joins(text, i))) {
      out[n++] = SPACE
      inWord = false
    }
  }
  if (inWord) out[n++] = SPACE
  return out.toString('latin1', 0, n)
}

/** The same for any text; notes the offset behind every folded unit where `offsets` is given. */
function foldWide(text: string, offsets: Int32Array | undefined): string {
  const length = text.length
  // A space may come between any two characters where scripts change.
  const needed = length * 2 + 2
  if (units.length < needed) units = new Uint16Array(needed)
  const out = units
  let n = 1
  out[0] = SPACE
  if (offsets !== undefined) offsets[0] = 0
  let inWord = false
  let wasUnspaced = false
  for (let i = 0; i < length; i++) {
    const at = i
    const code = text.charCodeAt(i)
    let folded: number
    let second = 0
    let unspaced = false
    if (code < 128) {
      folded = ascii[code] || (code === APOSTROPHE && joins(text, i) ? DROP : SPACE)
    } else if (code >= 0xd800 && code <= 0xdfff) {
      const point = text.codePointAt(i)!
      const astral = point > 0xffff ? foldAstral(point) : undefined
      if (point > 0xffff) i++
      if (astral === undefined) {
        folded = SPACE
      } else {
        folded = 0xd800 + ((astral.point - 0x10000) >> 10)
        second = 0xdc00 + ((astral.point - 0x10000) & 0x3ff)
        unspaced = astral.unspaced
      }
    } else {
      const answer = isApostrophe(code) ? (joins(text, i) ? DROP : SPACE) : foldUnit(code)
      folded = answer & 0xffff
      unspaced = answer >= UNSPACED
    }
    if (folded === DROP) continue
    if (folded === SPACE) {
      if (!inWord) continue
      inWord = false
    } else {
      if (inWord && unspaced !== wasUnspaced) {
        if (offsets !== undefined) offsets[n] = at
        out[n++] = SPACE
      }
      inWord = true
      wasUnspaced = unspaced
    }
    if (offsets !== undefined) offsets[n] = at
    out[n++] = folded
    if (second !== 0) {
      if (offsets !== undefined) offsets[n] = at + 1
      out[n++] = second
    }
  }
  if (inWord) {
    if (offsets !== undefined) offsets[n] = length
    out[n++] = SPACE
  }
  const folded = Buffer.from(out.buffer, 0, n * 2).toString('utf16le')
  if (units.length > keptUnits) units = new Uint16Array(0)
  return folded
}

function isApostrophe(code: number): boolean {
  return code === 0x2019 || code === 0x2bc || code === 0xff07 || code === 0x2018
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

function letterAt(text: string, i: number): boolean {
  if (i < 0 || i >= text.length) return false
  const code = text.charCodeAt(i)
  return code < 128 ? ascii[code]! >= 97 : code < 0xd800 && foldUnit(code) > SPACE
}

function growBytes(needed: number): Buffer {
  const grown = Buffer.allocUnsafeSlow(needed)
  if (needed <= keptUnits) bytes = grown
  return grown
}

/** Offsets of a folding. They are worked out when first asked for, since most texts have no finding. */
export class FoldMap {
  readonly #text: string
  #folded = ''
  #offsets: Int32Array | undefined

  constructor(text: string) {
    this.#text = text
  }

  /** The characters of the text behind folded offsets [from, to), without the separators at either end. */
  span(from: number, to: number): Span {
    const offsets = this.#offsets ?? this.#measure()
    const last = this.#folded.length
    let first = Math.min(Math.max(from, 0), last)
    let after = Math.min(Math.max(to, first), last)
    while (first < after && this.#folded.charCodeAt(first) === SPACE) first++
    while (after > first && this.#folded.charCodeAt(after - 1) === SPACE) after--
    const start = offsets[Math.min(first, last - 1)] ?? 0
    if (after === first) return { start, end: start }
    let end = offsets[after - 1]! + 1
    // Accents dropped after the last letter belong to it.
    while (end < this.#text.length && foldUnit(this.#text.charCodeAt(end)) === DROP) end++
    return { start, end }
  }

  #measure(): Int32Array {
    const offsets = new Int32Array(this.#text.length * 2 + 2)
    this.#folded = foldWide(this.#text, offsets)
    this.#offsets = offsets.slice(0, this.#folded.length)
    return this.#offsets
  }
}
