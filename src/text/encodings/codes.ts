/**
 * Characters written as their numbers, in rows: binary (`01101000 01101111`, also without gaps), decimal (`104 111`,
 * `[104, 111]`, `String.fromCharCode(104, 111)`), octal (`150 157`), and code points (`U+0068`). Bytes in hexadecimal are
 * `hex.ts`'s.
 */
import type { Stretches } from '../places.js'
import { isNoAccident, readsAsWords } from '../readable.js'
import { Edits } from '../rewrite.js'

export type NumberBase = 'binary' | 'decimal' | 'octal' | 'codepoint'

const fewest = 4
/** Between two numbers stands at most `", "` and a prefix such as `0b`. */
const longestGap = 4
/** A longer number is no character. */
const longestNumber = 10

interface Numbers {
  from: number[]
  to: number[]
  digits: string[]
}

/** @param stretches where rows may stand */
export function codeEdits(text: string, stretches: Stretches): Map<NumberBase, Edits> {
  const found = new Map<NumberBase, Edits>()
  const numbers: Numbers = { from: [], to: [], digits: [] }
  const close = () => {
    if (numbers.from.length >= fewest) decodeRow(numbers, found)
    numbers.from.length = numbers.to.length = numbers.digits.length = 0
  }
  for (let s = 0; s < stretches.length; s += 2) {
    let i = Math.max(s > 0 ? stretches[s - 1]! : 0, stretches[s]! - longestGap)
    let end = i
    while (i < stretches[s + 1]!) {
      if (!isWord(text.charCodeAt(i))) {
        i++
        continue
      }
      const from = i
      while (i < text.length && isWord(text.charCodeAt(i))) i++
      if (from - end > longestGap) close()
      end = i
      if (i - from > 31) {
        addRun(text, from, i, found)
        close()
        continue
      }
      if (i - from > longestNumber) {
        close()
        continue
      }
      const word = text.slice(from, i)
      // `U` before a plus sign is a prefix.
      if (/^u$/i.test(word) && text.charCodeAt(i) === 43) continue
      const digits = word.replace(/^0[bo](?=\d)/i, '')
      // No character of text has a code in hexadecimal that begins with a letter, but many words are such.
      if (!/^\d[\da-f]*$/i.test(digits)) {
        close()
        continue
      }
      const isPoint = /u\+$/i.test(text.slice(Math.max(0, from - 2), from))
      numbers.from.push(isPoint ? from - 2 : from)
      numbers.to.push(i)
      numbers.digits.push(isPoint ? `u${digits}` : digits)
    }
    close()
  }
  return found
}

function isWord(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
}

const bases: readonly [base: NumberBase, radix: number, shape: RegExp][] = [
  ['binary', 2, /^[01]{6,8}$/],
  // ASCII, Latin-1, and from Cyrillic on; numbers between are numbers.
  ['decimal', 10, /^(?:9|1[03]|3[2-9]|[4-9]\d|1\d\d|2[0-4]\d|25[0-5]|[1-9]\d{3,4})$/],
  ['octal', 8, /^0?(?:1[0-7]{2}|[4-7][0-7])$/],
  ['codepoint', 16, /^u[\da-f]{4,6}$/i]
]

/** In each base the stretches of the row that are numbers of it; the first that reads as words wins. */
function decodeRow(row: Numbers, found: Map<NumberBase, Edits>): void {
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
  row: Numbers,
  first: number,
  after: number,
  base: NumberBase,
  radix: number,
  taken: Uint8Array,
  found: Map<NumberBase, Edits>
): void {
  const values = row.digits.slice(first, after).map((digits) => Number.parseInt(digits.replace('u', ''), radix))
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
