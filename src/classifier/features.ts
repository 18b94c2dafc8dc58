/**
 * Extracts the model's features from a folded text: its words and, inside them, runs of three to five letters; pairs of
 * neighbouring words, and pairs with one word between. Training and serving share this code, so they cannot differ.
 *
 * In scripts without spaces each character is a word, so that pairs of words are pairs of characters. An emoji, which
 * folding drops, is a word too: in abuse it often carries the meaning.
 */
import type { Folder } from '../text/fold.js'
import { Passages } from './passages.js'

const SPACE = 32
/** A longer run of letters is cut into words of this many, so that every character is seen and a word is bounded. */
export const longestWord = 24
/** The most features that one word has: itself, and its runs of three, four and five with a space at each end. */
export const mostFeatures = 1 + 24 + 23 + 22

/** Pseudo-word before the first word: a text's opening (`how do`, `write a`) tells much about its kind. */
export const START = 0x2f0b4c61

/** The words of one text, in order. Its arrays are reused, and valid until the next `read`. */
export class Words {
  count = 0
  hash = new Int32Array(1024)
  /** Folded offsets of each word. For an emoji `from` is the one's complement of its offset in the text, `to` its code point. */
  from = new Int32Array(1024)
  to = new Int32Array(1024)
  readonly passages = new Passages()

  /** Linear. */
  read(folded: Folder, text: string): this {
    this.#reserve(folded.length + 1)
    this.count = 0
    const { units, spaces, words } = folded
    const emoji = anyEmoji.test(text) ? emojiIn(text) : none
    let nextEmoji = 0
    for (let k = 0; k < words; k++) {
      const from = spaces[k]! + 1
      const to = spaces[k + 1]!
      if (nextEmoji < emoji.length) {
        const start = folded.span(from, to).start
        for (; nextEmoji < emoji.length && emoji[nextEmoji]! < start; nextEmoji += 2) this.#addEmoji(emoji, nextEmoji)
      }
      const first = units[from]!
      if (first >= 0xe00 && isUnspaced(first)) for (let i = from; i < to; i++) this.#add(units, i, i + 1)
      else if (to - from <= longestWord) this.#add(units, from, to)
      else for (let i = from; i < to; i += longestWord) this.#add(units, i, Math.min(i + longestWord, to))
    }
    for (; nextEmoji < emoji.length; nextEmoji += 2) this.#addEmoji(emoji, nextEmoji)
    this.passages.read(folded.source, text.length, this.count, this.from, folded.offsets)
    return this
  }

  /** The place of words [first, after) in the text. */
  span(folded: Folder, text: string, first: number, after: number): { start: number; end: number } {
    const last = after - 1
    const start = this.from[first]! < 0 ? ~this.from[first]! : folded.span(this.from[first]!, this.to[first]!).start
    const end =
      this.from[last]! < 0
        ? ~this.from[last]! + (this.to[last]! > 0xffff ? 2 : 1)
        : folded.span(this.from[last]!, this.to[last]!).end
    return { start, end: Math.min(Math.max(start, end), text.length) }
  }

  #add(units: Uint16Array, from: number, to: number): void {
    let hash = 0x811c9dc5 | 0
    for (let i = from; i < to; i++) hash = Math.imul(hash ^ units[i]!, 0x01000193)
    this.hash[this.count] = finish(hash)
    this.from[this.count] = from
    this.to[this.count++] = to
  }

  #addEmoji(emoji: readonly number[], at: number): void {
    this.hash[this.count] = finish(emoji[at + 1]! + 0x6a09e667)
    this.from[this.count] = ~emoji[at]!
    this.to[this.count++] = emoji[at + 1]!
  }

  #reserve(needed: number): void {
    if (this.hash.length >= needed && (this.hash.length <= kept || needed > kept)) return
    const size = needed > kept ? needed : Math.min(kept, needed * 2)
    this.hash = new Int32Array(size)
    this.from = new Int32Array(size)
    this.to = new Int32Array(size)
  }
}

/** Words for which memory is kept between texts. */
const kept = 1 << 18

/** Features of one word, for the table of words. @returns how many were written to `out` */
export function wordFeatures(units: Uint16Array, from: number, to: number, hash: number, out: Int32Array): number {
  out[0] = finish(hash ^ 0x3c6ef372)
  if (from < 0) return 1
  const length = to - from
  if (isNumber(units, from, to)) {
    // Long numbers differ only in their length.
    out[length > 4 ? 0 : 1] = finish(0x510e527f + length)
    return length > 4 ? 1 : 2
  }
  let count = 1
  for (let size = 3; size <= 5; size++) {
    if (size > length + 1) break
    for (let i = -1; i + size <= length + 1; i++) {
      let gram = (0x1f83d9ab + size) | 0
      for (let j = i; j < i + size; j++) {
        gram = Math.imul(gram ^ (j < 0 || j >= length ? SPACE : units[from + j]!), 0x01000193)
      }
      out[count++] = finish(gram)
    }
  }
  return count
}

/** Two neighbouring words. @param before hash of the first, or `START` */
export function pairFeature(before: number, hash: number): number {
  return finish(Math.imul(before, 0x9e3779b1) + hash)
}

/** Two words with one between them; the first may be `START`. */
export function skipFeature(before: number, hash: number): number {
  return finish(Math.imul(before, 0x85ebca6b) ^ hash)
}

/** Spreads a sum over all 32 bits (the finaliser of MurmurHash3). */
function finish(sum: number): number {
  let hash = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

function isNumber(units: Uint16Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (units[i]! < 48 || units[i]! > 57) return false
  return true
}

/** Scripts written without spaces, by blocks of the basic plane. */
function isUnspaced(unit: number): boolean {
  return unit < 0x10a0 || (unit >= 0x1780 && unit < 0x1800) || (unit >= 0x2e80 && unit < 0xd800)
}

const anyEmoji = /[\u2600-\u27bf\u2b00-\u2bff\ud83c-\ud83e]/
const everyEmoji = /[\u2600-\u27bf\u2b00-\u2bff\u{1f000}-\u{1faff}]/gu
const none: readonly number[] = []

/** Offset and code point of every emoji, one after the other. */
function emojiIn(text: string): number[] {
  const found: number[] = []
  for (const { 0: emoji, index } of text.matchAll(everyEmoji)) found.push(index, emoji.codePointAt(0)!)
  return found
}
