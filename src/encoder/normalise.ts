/**
 * The normalisation before tokenizing (`training/encoder/vocabulary.py` writes the same steps into
 * `encoder.tokenizer.json`): control characters are removed, the end of a line becomes `↵`, runs of white space become
 * one `▁`, the rest is NFKC. One pass, since the steps as patterns would backtrack over runs of spaces, and since each
 * unit needs its place in the text.
 */

/** Stands for a space, and begins every word. */
export const WORD = 0x2581
const LINE = 0x21b5

const PLAIN = 0
/** NFKC changes it. */
const ODD = 1
/** NFKC may join it to the character before. */
const JOINS = 2
const SPACE = 3
/** White space that merges into the end of a line. */
const SWALLOWED = 4
const NEWLINE = 5
const DROPPED = 6
const SURROGATE = 7

/** Characters that NFKC looks at together; more marks than that on one letter are no language (UAX 15, stream-safe texts). */
const longestCluster = 32

// Marks, and the conjoining, compatibility and half-width letters of Hangul and kana that NFKC puts together.
const joins = /[\p{M}\u1160-\u11ff\u3131-\u318e\uff9e-\uffdc]/u
const swallowed = /[\s\u0085\u200b-\u200f\ufeff]/
const space = /[\s\u0085\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]/
const dropped = /[\x00-\x08\x0e-\x1f\x7f\x8f\x9f]/

/** By UTF-16 unit; 255: not asked yet. */
const kinds = new Uint8Array(65536).fill(255)
kinds.fill(PLAIN, 33, 127)
kinds.fill(SURROGATE, 0xd800, 0xe000)

function kindOf(unit: number): number {
  const known = kinds[unit]!
  if (known !== 255) return known
  const char = String.fromCharCode(unit)
  const kind = dropped.test(char)
    ? DROPPED
    : unit === 10
      ? NEWLINE
      : swallowed.test(char)
        ? SWALLOWED
        : space.test(char)
          ? SPACE
          : joins.test(char)
            ? JOINS
            : char.normalize('NFKC') === char
              ? PLAIN
              : ODD
  kinds[unit] = kind
  return kind
}

export function isSpace(unit: number): boolean {
  const kind = kindOf(unit)
  return kind === SPACE || kind === SWALLOWED || kind === NEWLINE
}

/** One text at a time: its arrays are reused, and hold what they hold until the next. */
export class Normaliser {
  units = new Uint16Array(0)
  /** For each unit the place in the text where its source begins. */
  places = new Uint32Array(0)
  length = 0

  /** @param continues whether the text goes on in the middle of a word */
  read(text: string, continues: boolean): void {
    // A unit becomes at most 18 by NFKC (U+FDFA); texts full of those make the arrays grow.
    this.#fit(text.length * 2 + 64)
    this.length = 0
    if (!continues) this.#push(WORD, 0)
    for (let i = 0; i < text.length; ) i = this.#next(text, i)
    // What is left of white space at the end, or of a text without words.
    if (this.length > 0 && this.units[this.length - 1] === WORD) this.length--
  }

  #next(text: string, i: number): number {
    const unit = text.charCodeAt(i)
    switch (kindOf(unit)) {
      case DROPPED:
        return i + 1
      case SPACE:
      case SWALLOWED:
        this.#space(i)
        return i + 1
      case NEWLINE: {
        this.#space(i)
        this.#push(LINE, i)
        let end = i + 1
        for (; end < text.length; end++) {
          const kind = kindOf(text.charCodeAt(end))
          if (kind !== SWALLOWED && kind !== NEWLINE && kind !== DROPPED) break
        }
        this.#space(end - 1)
        return end
      }
      case PLAIN:
        if (i + 1 === text.length || !joinsAt(text, i + 1)) {
          this.#push(unit, i)
          return i + 1
        }
    }
    return this.#cluster(text, i)
  }

  #cluster(text: string, start: number): number {
    let end = start + sizeAt(text, start)
    const most = start + longestCluster
    while (end < text.length && end < most && joinsAt(text, end)) end += sizeAt(text, end)
    const found = text.slice(start, end).normalize('NFKC')
    for (let i = 0; i < found.length; i++) {
      const unit = found.charCodeAt(i)
      // Half of a pair is no character.
      if (unit === 32 || (kindOf(unit) === SURROGATE && !isPaired(found, i))) this.#space(start)
      else this.#push(unit, start)
    }
    return end
  }

  #space(place: number): void {
    if (this.length === 0 || this.units[this.length - 1] !== WORD) this.#push(WORD, place)
  }

  #push(unit: number, place: number): void {
    if (this.length === this.units.length) this.#fit(this.length * 2)
    this.units[this.length] = unit
    this.places[this.length] = place
    this.length++
  }

  #fit(size: number): void {
    if (size <= this.units.length) return
    const units = new Uint16Array(size)
    const places = new Uint32Array(size)
    units.set(this.units)
    places.set(this.places)
    this.units = units
    this.places = places
  }
}

function joinsAt(text: string, i: number): boolean {
  const kind = kindOf(text.charCodeAt(i))
  if (kind !== SURROGATE) return kind === JOINS
  return joins.test(String.fromCodePoint(text.codePointAt(i)!))
}

function sizeAt(text: string, i: number): number {
  return text.codePointAt(i)! > 0xffff ? 2 : 1
}

function isPaired(text: string, i: number): boolean {
  const unit = text.charCodeAt(i)
  if (unit < 0xdc00) return i + 1 < text.length && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00
  return i > 0 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800
}
