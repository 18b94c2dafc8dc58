/** Quoted-printable (RFC 2045 section 6.7): bytes as `=6B`, lines broken by `=` at their end. */
import { readable } from '../readable.js'
import { Edits } from '../rewrite.js'

/** A byte or two so written occurs in code (`a=41`). */
const fewest = 3

/** A line may be broken between the bytes of one character. */
const unit = /((?:=[\dA-Fa-f]{2}(?:=[ \t]*\r?\n(?==[\dA-Fa-f]{2}))?)+)|=[ \t]*\r?\n/g

/** Longest name of a parameter, in units. */
const longestName = 64
const ofName = /[\w.[\]-]/

/** Whether an equals sign gives the value of an address's parameter: `?id=4f…`. */
function isParameter(text: string, at: number): boolean {
  let i = at - 1
  while (i > at - longestName && i >= 0 && ofName.test(text[i]!)) i--
  return i >= 0 && i < at - 1 && (text[i] === '?' || text[i] === '&')
}

export function quotedPrintableEdits(text: string): Edits {
  const edits = new Edits()
  let bytes = 0
  for (const { 0: whole, 1: run, index } of text.matchAll(unit)) {
    if (run === undefined) {
      // Code breaks lines behind an equals sign too, and has a space before it.
      if (index === 0 || text.charCodeAt(index - 1) <= 32) continue
      bytes++
      edits.add(index, index + whole.length, '')
      continue
    }
    if (run.length === 3 && isParameter(text, index)) continue
    const hex = run.replace(/[=\s]+/g, '')
    const decoded = readable(Buffer.from(hex, 'hex'))
    if (decoded === undefined) continue
    bytes += hex.length / 2
    edits.add(index, index + whole.length, decoded)
  }
  return bytes >= fewest ? edits : new Edits()
}
