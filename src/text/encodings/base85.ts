/**
 * Four bytes in five signs: Ascii85 (`<~…~>` or bare, `z` for four zero bytes), the alphabet of RFC 1924 that git and
 * Python's `b85encode` use, and ZeroMQ's Z85.
 */
import type { Stretches } from '../places.js'
import { worded } from '../readable.js'
import { Edits } from '../rewrite.js'

const printable = Array.from({ length: 85 }, (_, i) => String.fromCharCode(33 + i)).join('')
const rfc1924 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~'
const z85 = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#'

/** Per ASCII code the value in each alphabet, or -1. */
const alphabets = [printable, rfc1924, z85].map((digits) => {
  const values = new Int8Array(128).fill(-1)
  for (let value = 0; value < digits.length; value++) values[digits.charCodeAt(value)] = value
  return values
})
const ascii85 = alphabets[0]!

/** Sixteen bytes: shorter runs are text by chance. */
const shortest = 20

/** @param chunks stretches without white space */
export function base85Edits(text: string, chunks: Stretches): Edits {
  const edits = new Edits()
  let done = 0
  // Looked for once each, however many chunks there are.
  let open = text.indexOf('<~')
  let close = open < 0 ? -1 : text.indexOf('~>', open + 2)
  for (let s = 0; s < chunks.length; s += 2) {
    const from = Math.max(done, chunks[s]!)
    const to = chunks[s + 1]!
    if (to <= from) continue
    if (open >= 0 && open < from) open = text.indexOf('<~', from)
    if (open >= 0 && open < to && close >= 0) {
      if (close < open + 2) close = text.indexOf('~>', open + 2)
      if (close >= 0) {
        const decoded = decode(text, open + 2, close, ascii85)
        if (decoded !== undefined) edits.add(open, close + 2, decoded)
        done = close + 2
        continue
      }
    }
    if (to - from >= shortest && mayBeBase85(text, from, to)) decodeChunk(text, from, to, edits)
  }
  return edits
}

/** A sixth of its signs is punctuation, and small and capital letters are mixed: no word, path or number is so. */
function mayBeBase85(text: string, from: number, to: number): boolean {
  let signs = 0
  let small = 0
  let capital = 0
  // The first hundred tell.
  const end = Math.min(to, from + 100)
  for (let i = from; i < end; i++) {
    const code = text.charCodeAt(i)
    if (code > 126) return false
    if (code >= 97 && code <= 122) small++
    else if (code >= 65 && code <= 90) capital++
    else if (code < 48 || code > 57) signs++
  }
  return signs * 12 >= end - from && small > 1 && capital > 1
}

/** The whole chunk, or the part in quotes or after the first colon or equals sign. */
function decodeChunk(text: string, from: number, to: number, edits: Edits): void {
  const starts = [from, from + 1]
  for (let i = from; i < from + 16; i++) {
    const code = text.charCodeAt(i)
    if (code === 58 || code === 61) starts.push(i + 1)
  }
  for (const start of starts) {
    for (const values of alphabets) {
      for (let end = to; end >= to - 2; end--) {
        const decoded = decode(text, start, end, values)
        if (decoded === undefined) continue
        edits.add(start, end, decoded)
        return
      }
    }
  }
}

function decode(text: string, from: number, to: number, values: Int8Array): string | undefined {
  const bytes: number[] = []
  let value = 0
  let count = 0
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i)
    if (code <= 32 && values === ascii85) continue
    if (code === 122 && count === 0 && values === ascii85) {
      bytes.push(0, 0, 0, 0)
      continue
    }
    const digit = code < 128 ? values[code]! : -1
    if (digit < 0) return undefined
    value = value * 85 + digit
    if (++count < 5) continue
    if (!addBytes(bytes, value, 4)) return undefined
    value = 0
    count = 0
  }
  if (count === 1) return undefined
  if (count > 0) {
    // Missing signs count as the highest, so that the cut does not lower the remaining bytes.
    for (let k = count; k < 5; k++) value = value * 85 + 84
    if (!addBytes(bytes, value, count - 1)) return undefined
  }
  return bytes.length < 4 ? undefined : worded(Buffer.from(bytes))
}

/** @returns false where they cannot be text, which ends nearly every attempt after a few signs */
function addBytes(bytes: number[], value: number, count: number): boolean {
  if (value > 0xffffffff) return false
  for (let k = 0; k < count; k++) {
    const byte = Math.trunc(value / 2 ** (24 - 8 * k)) & 255
    if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 13) return false
    bytes.push(byte)
  }
  return true
}
