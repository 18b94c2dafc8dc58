/**
 * Base64 cut in pieces of one size: groups with white space or commas between them, and strings as programs join them
 * (`"aG93IHRv" + "IGJ1aWxk"`). Lines as MIME wraps them are `base64.ts`'s.
 */
import type { Stretches } from '../places.js'
import { readable, worded } from '../readable.js'
import { Edits } from '../rewrite.js'
import { inAlphabet, runEnd } from './base64.js'

const smallest = 4
const largest = 76
/** Fewer in all are words that happen to be equally long. */
const fewestUnits = 24
/** Of so much or more, a part may be no text. */
const long = 64
/** So many ordinary words of the same size may stand before a row, and behind it. */
const mostBeside = 8
const longestGap = 4
const quoted = /(["'`])[\s,;+.&|\\]{0,12}\1/y

/** Pieces with the same signs between them, of which the last may be shorter. */
interface Row {
  readonly from: number[]
  readonly size: number
  readonly end: number
}

/** @param stretches where rows may stand: `SignPlaces.pieces` */
export function pieceEdits(text: string, stretches: Stretches): Edits {
  const edits = new Edits()
  let done = 0
  for (let s = 0; s < stretches.length; s += 2) {
    const end = Math.min(stretches[s + 1]!, text.length)
    let i = Math.max(done, stretches[s]!)
    while (i > done && inAlphabet(text.charCodeAt(i - 1))) i--
    while (i < end) {
      if (!inAlphabet(text.charCodeAt(i))) {
        i++
        continue
      }
      const row = rowAt(text, i, done)
      if (row === undefined) {
        i = runEnd(text, i)
        continue
      }
      const last = row.from.at(-1)!
      // A shorter one may be the first of the next row.
      i = readRow(text, row, edits) || row.end - last === row.size ? row.end : last
      done = i
    }
    done = Math.max(done, i)
  }
  return edits
}

/** The row of which the piece at `at` is one. @param floor what stands before belongs to no row */
function rowAt(text: string, at: number, floor: number): Row | undefined {
  let end = runEnd(text, at)
  const size = end - at
  if (size < smallest || size > largest) return undefined
  const second = gapEnd(text, end)
  const isQuoted = isQuote(text.charCodeAt(end))
  // For most words it ends here. One run of base64 with something shorter behind it has a word behind it.
  const units = second === end ? 0 : runEnd(text, second) - second
  if (units === 0 || units > size || (units < size && !isQuoted)) return undefined
  const gap = text.slice(end, second)
  const from = [at]
  while (end - from.at(-1)! === size && text.startsWith(gap, end)) {
    const next = end + gap.length
    const nextEnd = runEnd(text, next)
    if (nextEnd === next || nextEnd - next > size) break
    if (!isQuoted && nextEnd - next < size && isWordBehind(text, next, nextEnd, from.length * size)) break
    from.push(next)
    end = nextEnd
  }
  const step = size + gap.length
  const before: number[] = []
  for (let k = at - step; k >= floor && isPiece(text, k, size) && text.startsWith(gap, k + size); k -= step)
    before.push(k)
  return { from: [...before.reverse(), ...from], size, end }
}

/** @returns where the signs end that may stand between two pieces; `from` where none do */
function gapEnd(text: string, from: number): number {
  const code = text.charCodeAt(from)
  if (isQuote(code)) {
    quoted.lastIndex = from
    return from + (quoted.exec(text)?.[0].length ?? 0)
  }
  let i = code === 44 || code === 59 || code === 124 ? from + 1 : from
  while (i - from < longestGap && isWhite(text.charCodeAt(i))) i++
  return i
}

/** Whether a shorter last piece is a word: of small letters, neither padded nor the end of a text that needs no padding. */
function isWordBehind(text: string, from: number, to: number, before: number): boolean {
  const isEnd = text.charCodeAt(to) === 61 || (before + to - from) % 4 === 0
  return !isEnd && /^[A-Z]?[a-z]+$/.test(text.slice(from, to))
}

function isQuote(code: number): boolean {
  return code === 34 || code === 39 || code === 96
}

function isWhite(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13)
}

function isPiece(text: string, from: number, size: number): boolean {
  return runEnd(text, from) === from + size && !inAlphabet(text.charCodeAt(from - 1))
}

/** @returns whether it is text */
function readRow(text: string, { from, size, end }: Row, edits: Edits): boolean {
  const units = (from.length - 1) * size + end - from.at(-1)!
  if (units < fewestUnits || !hasBothCases(text.slice(from[0]!, end))) return false
  const pieces = from.map((at) => text.slice(at, Math.min(at + size, end)))
  const sampled = Math.ceil(fewestUnits / size)
  for (let first = 0; first <= mostBeside && units - first * size >= fewestUnits; first++) {
    const start = pieces.slice(first, first + sampled).join('')
    if (!hasBothCases(start) || !beginsText(Buffer.from(start, 'base64'))) continue
    const encoded = pieces.slice(first)
    const decoded = decode(encoded, units - first * size)
    if (decoded === undefined) continue
    const last = first + decoded.pieces - 1
    let to = from[last]! + pieces[last]!.length
    for (let k = 0; k < 2 && text.charCodeAt(to) === 61; k++) to++
    edits.add(from[first]!, to, decoded.text)
    return true
  }
  return false
}

/** Whether a text may begin so: its last character may be cut. */
function beginsText(bytes: Buffer): boolean {
  let end = bytes.length
  while (end > 0 && (bytes[end - 1]! & 0xc0) === 0x80) end--
  if (end > 0 && bytes[end - 1]! >= 0xc0) end--
  return readable(bytes.subarray(0, end)) !== undefined
}

/** The text of most of the pieces; of a long row some may be no text, which a model reads past. */
function decode(pieces: readonly string[], units: number): { text: string; pieces: number } | undefined {
  for (let count = pieces.length; count > 0 && count >= pieces.length - mostBeside; count--) {
    const text = worded(Buffer.from(pieces.slice(0, count).join(''), 'base64'))
    if (text !== undefined) return { text, pieces: count }
  }
  const text = units < long ? undefined : readable(Buffer.from(pieces.join(''), 'base64'))
  return text === undefined ? undefined : { text, pieces: pieces.length }
}

/** Base64 of text has capitals and small letters; nearly all rows of ordinary words and numbers have not. */
function hasBothCases(run: string): boolean {
  return /[A-Z]/.test(run) && /[a-z]/.test(run)
}
