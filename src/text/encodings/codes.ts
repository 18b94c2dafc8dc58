/**
 * Characters written as their numbers, in rows: binary (`01101000 01101111`, also without gaps), decimal (`104 111`,
 * `[104, 111]`, `String.fromCharCode(104, 111)`), octal (`150 157`), code points (`U+0068`), and hexadecimal that is marked
 * as such (`0x68`, CSS's `\68`). Between two numbers may stand any signs, and any words if they are the same each time:
 * `chr(104) + chr(111)`. Bare bytes in hexadecimal are `hex.ts`'s.
 */
import type { Stretches } from '../places.js'
import { isNoAccident, readsAsWords } from '../readable.js'
import { Edits } from '../rewrite.js'

export type NumberBase = 'binary' | 'decimal' | 'octal' | 'codepoint' | 'hex'

const fewest = 4
/** Fewer numbers with words between them are ordinary: years, lengths. */
const fewestApart = 8
const BACKSLASH = 92
/** Signs between two numbers; a prefix such as `0b` is part of the number. */
const longestGap = 8
/** Letters of the words between two numbers, and what stands around them. */
const longestWords = 40
/** A longer number is no character. */
const longestNumber = 10

/** Numbers between which the same words stand. */
class Row {
  readonly from: number[] = []
  readonly to: number[] = []
  readonly digits: string[] = []
  /** The words between its numbers. */
  usual = ''
  /** The words since the last number. */
  between = ''

  clear(): void {
    this.from.length = this.to.length = this.digits.length = 0
    this.between = ''
  }

  /** Whether a number at `at` goes on with the row. */
  continuesAt(at: number): boolean {
    const { to, between, usual } = this
    return this.mayReach(at) && (to.length < 2 || between === usual)
  }

  /** Whether what stands between the last number and `at` may stand between two numbers. */
  mayReach(at: number): boolean {
    const gap = at - this.to.at(-1)! - this.between.length
    return gap <= longestGap + (this.between === '' ? 0 : longestGap) && this.between.length <= longestWords
  }

  add(from: number, to: number, digits: string): void {
    if (this.to.length === 1) this.usual = this.between
    this.between = ''
    this.from.push(from)
    this.to.push(to)
    this.digits.push(digits)
  }
}

/** @param stretches where rows may stand */
export function codeEdits(text: string, stretches: Stretches): Map<NumberBase, Edits> {
  const found = new Map<NumberBase, Edits>()
  const row = new Row()
  const close = () => {
    if (row.from.length >= (row.from.length > 1 && row.usual !== '' ? fewestApart : fewest)) decodeRow(row, found)
    row.clear()
  }
  for (let s = 0; s < stretches.length; s += 2) {
    let i = Math.max(s > 0 ? stretches[s - 1]! : 0, stretches[s]! - longestGap)
    while (i < stretches[s + 1]!) {
      if (!isWord(text.charCodeAt(i))) {
        i++
        continue
      }
      const from = i
      while (i < text.length && isWord(text.charCodeAt(i))) i++
      if (i - from > 31) {
        addRun(text, from, i, found)
        close()
        continue
      }
      const number = i - from > longestNumber ? undefined : numberAt(text, from, i)
      if (number !== undefined) {
        if (row.from.length > 0 && !row.continuesAt(from)) startAnew(row, from, close)
        row.add(number.from, i, number.digits)
      } else if (row.from.length > 0 && !(i - from === 1 && text.charCodeAt(i) === 43)) {
        row.between += `${text.slice(from, i)} `
        if (row.between.length > longestWords) close()
      }
    }
    close()
  }
  return found
}

/** Closes a row before the number at `at`. Its last number may be the first of the next row: "step 12: chr(104)+chr(111)". */
function startAnew(row: Row, at: number, close: () => void): void {
  const { between } = row
  const last = row.from.length - 1
  const [from, to, digits] = [row.from[last]!, row.to[last]!, row.digits[last]!]
  const isFirst = last + 1 < fewest && row.mayReach(at)
  close()
  if (!isFirst) return
  row.add(from, to, digits)
  row.between = between
}

/** The digits of a word that may be a number, behind `u` those of a code point and behind `x` those in hexadecimal. */
function numberAt(text: string, from: number, to: number): { from: number; digits: string } | undefined {
  const word = text.slice(from, to)
  if (to - from === 2 && text.charCodeAt(from - 1) === BACKSLASH && /^[\da-f]{2}$/i.test(word))
    return { from: from - 1, digits: `x${word}` }
  // No character of text has a code in hexadecimal that begins with a letter, but many words are such.
  const digits = /^(?=\d)(?:0[bo](?=\d)|0(?=x))?(x?[\da-f]+)$/i.exec(word)?.[1]
  if (digits === undefined) return undefined
  const isPoint = /u\+$/i.test(text.slice(Math.max(0, from - 2), from))
  return isPoint ? { from: from - 2, digits: `u${digits}` } : { from, digits }
}

function isWord(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
}

const bases: readonly [base: NumberBase, radix: number, shape: RegExp][] = [
  ['binary', 2, /^[01]{6,8}$/],
  // ASCII, Latin-1, and from Cyrillic on; numbers between are numbers.
  ['decimal', 10, /^(?:9|1[03]|3[2-9]|[4-9]\d|1\d\d|2[0-4]\d|25[0-5]|[1-9]\d{3,4})$/],
  ['octal', 8, /^0?(?:1[0-7]{2}|[4-7][0-7])$/],
  ['codepoint', 16, /^u[\da-f]{4,6}$/i],
  ['hex', 16, /^x[\da-f]{2,5}$/i]
]

/** In each base the stretches of the row that are numbers of it; the first that reads as words wins. */
function decodeRow(row: Row, found: Map<NumberBase, Edits>): void {
  const taken = new Uint8Array(row.from.length)
  // Bytes in hexadecimal, of which some have no letter: `hex.ts` reads them.
  if (row.digits.some((digits) => /^\d+[a-f]/i.test(digits))) return
  for (const [base, radix, shape] of bases) {
    let first = 0
    for (let k = 0; k <= row.from.length; k++) {
      const fits = k < row.from.length && taken[k] === 0 && shape.test(row.digits[k]!)
      if (fits) continue
      if (k - first >= fewest) decodeNumbers(row, first, k, base, radix, taken, found)
      first = k + 1
    }
  }
}

function decodeNumbers(
  row: Row,
  first: number,
  after: number,
  base: NumberBase,
  radix: number,
  taken: Uint8Array,
  found: Map<NumberBase, Edits>
): void {
  const values = row.digits.slice(first, after).map((digits) => Number.parseInt(digits.replace(/^[ux]/i, ''), radix))
  const isBytes = base === 'binary' || (values.every((value) => value < 256) && values.some((value) => value > 127))
  const text = isBytes
    ? Buffer.from(values).toString('utf8')
    : values.map((value) => (value <= 0x10ffff ? String.fromCodePoint(value) : '\ufffd')).join('')
  if (!(base === 'binary' ? isNoAccident(text) : readsAsWords(text))) return
  taken.fill(1, first, after)
  let edits = found.get(base)
  if (edits === undefined) {
    edits = new Edits()
    found.set(base, edits)
  }
  edits.add(row.from[first]!, row.to[after - 1]!, text)
}

/** Bits without gaps, eight or seven to a character. */
function addRun(text: string, from: number, to: number, found: Map<NumberBase, Edits>): void {
  for (let i = from; i < to; i++) if ((text.charCodeAt(i) | 1) !== 49) return
  for (const size of [8, 7]) {
    if ((to - from) % size !== 0) continue
    const bytes = Buffer.alloc((to - from) / size)
    for (let k = 0; k < bytes.length; k++)
      bytes[k] = Number.parseInt(text.slice(from + k * size, from + (k + 1) * size), 2)
    const decoded = bytes.toString('utf8')
    if (!isNoAccident(decoded)) continue
    const edits = found.get('binary') ?? new Edits()
    edits.add(from, to, decoded)
    found.set('binary', edits)
    return
  }
}
