/** Base32 (RFC 4648 sections 6 and 7: the standard and the extended-hex alphabet), in capitals or in small letters. */
import type { Stretches } from '../places.js'
import { worded } from '../readable.js'
import { Edits } from '../rewrite.js'

/** Per ASCII code the value in each alphabet, or -1. */
const alphabets = ['ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', '0123456789ABCDEFGHIJKLMNOPQRSTUV'].map((digits) => {
  const values = new Int8Array(128).fill(-1)
  for (let value = 0; value < digits.length; value++) {
    const code = digits.charCodeAt(value)
    values[code] = value
    if (code >= 65) values[code | 32] = value
  }
  return values
})

const shortest = 8
/** Fewer digits than this give a letter beyond ASCII by chance. */
const longEnough = 24
const EQUALS = 61

/** @param tokens stretches where it may occur */
export function base32Edits(text: string, tokens: Stretches): Edits {
  const edits = new Edits()
  for (let s = 0; s < tokens.length; s += 2) {
    for (let i = tokens[s]!; i < tokens[s + 1]!; ) {
      const end = runEnd(text, i, tokens[s + 1]!)
      if (end - i >= shortest && !isWord(text.charCodeAt(i - 1)) && !isWord(text.charCodeAt(end)))
        decodeRun(text, i, end, edits)
      i = end + 1
    }
  }
  return edits
}

/** Letters of one case and digits; beside others of the other case they are part of base64. */
function runEnd(text: string, from: number, to: number): number {
  let i = from
  let cases = 0
  for (; i < to; i++) {
    const code = text.charCodeAt(i)
    if (code >= 65 && code <= 90) cases |= 1
    else if (code >= 97 && code <= 122) cases |= 2
    else if (code < 48 || code > 57) break
    if (cases === 3) break
  }
  return i
}

function decodeRun(text: string, from: number, to: number, edits: Edits): void {
  for (const values of alphabets) {
    const bytes = decode(text, from, to, values)
    const decoded = bytes === undefined ? undefined : worded(bytes)
    if (decoded === undefined || (to - from < longEnough && /[^\x00-\x7f]/.test(decoded))) continue
    let end = to
    while (text.charCodeAt(end) === EQUALS && end - to < 6) end++
    edits.add(from, end, decoded)
    return
  }
}

function decode(text: string, from: number, to: number, values: Int8Array): Buffer | undefined {
  const bytes = Buffer.alloc(((to - from) * 5) >> 3)
  let bits = 0
  let count = 0
  let at = 0
  for (let i = from; i < to; i++) {
    const value = values[text.charCodeAt(i)]!
    if (value < 0) return undefined
    bits = ((bits << 5) | value) & 0xfff
    count += 5
    if (count >= 8) {
      count -= 8
      const byte = (bits >> count) & 255
      // Text in ASCII, or the bytes of UTF-8: most words that are no base32 end here.
      if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 13) return undefined
      bytes[at++] = byte
    }
  }
  return bytes
}

function isWord(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
}
