/**
 * Bytes written in hexadecimal: one run (`6b696c6c`, `0x6b69…`) or set apart by any signs (`6b 69`, `6b:69`, `"6b", "69"`,
 * `0x6b, 0x69`, `6b69 6c6c`).
 */
import type { Stretches } from '../places.js'
import { isNoAccident, readable } from '../readable.js'
import { Edits } from '../rewrite.js'

const digit = new Uint8Array(128)
for (const c of '0123456789abcdefABCDEF') digit[c.charCodeAt(0)] = 1

const fewestBytes = 4
/** Signs between two groups, such as `" + "`. */
const longestGap = 8

/** @param stretches where they may stand: text in hexadecimal has digits, or is in rows of pairs */
export function hexEdits(text: string, stretches: Stretches): Edits {
  const edits = new Edits()
  let i = 0
  for (let s = 0; s < stretches.length; s += 2) {
    for (i = Math.max(i, stretches[s]!); i < stretches[s + 1]!; ) i = readWord(text, i, edits)
  }
  return edits
}

/** @returns where to read on */
function readWord(text: string, from: number, edits: Edits): number {
  const code = text.charCodeAt(from)
  if (code > 127 || digit[code] === 0) {
    // Letters beyond f end a word: hexadecimal does not start inside one, but for `x`.
    return isWord(code) && code !== 120 && code !== 88 ? wordEnd(text, from) : from + 1
  }
  let end = digitsEnd(text, from)
  if (end - from === 1 && code === 48 && (text.charCodeAt(end) | 32) === 120) return end + 1
  if ((end - from) % 2 === 0 && !isWord(text.charCodeAt(end))) {
    const groups = groupsAt(text, from)
    end = groups.at(-1)!
    if (!decodeGroups(text, groups, edits)) decodeRows(text, groups, edits)
  }
  return isWord(text.charCodeAt(end)) ? wordEnd(text, end) : end
}

/** A `0x` in front belongs to the run. */
function start(text: string, from: number): number {
  return text.charCodeAt(from - 2) === 48 && (text.charCodeAt(from - 1) | 32) === 120 ? from - 2 : from
}

/** @returns whether the groups are text together */
function decodeGroups(text: string, groups: Stretches, edits: Edits): boolean {
  let hex = ''
  for (let g = 0; g < groups.length; g += 2) hex += text.slice(groups[g]!, groups[g + 1]!)
  if (hex.length < fewestBytes * 2) return false
  const decoded = readable(Buffer.from(hex, 'hex'))
  if (decoded === undefined || !(/[A-Za-z]{2}|[^\x00-\x7f]{2}/.test(decoded) || isNoAccident(decoded))) return false
  edits.add(start(text, groups[0]!), groups.at(-1)!, decoded)
  return true
}

/** Text beside hashes or offsets is found by itself: in groups with the same signs between them, or in one group. */
function decodeRows(text: string, groups: Stretches, edits: Edits): void {
  for (let g = 0; g < groups.length; ) {
    const end = rowEnd(text, groups, g)
    const row = groups.slice(g, end)
    const isText = row.length < groups.length && decodeGroups(text, row, edits)
    if (!isText && row.length > 2) for (let k = g; k < end; k += 2) decodeGroups(text, groups.slice(k, k + 2), edits)
    g = end
  }
}

function rowEnd(text: string, groups: Stretches, from: number): number {
  const gap = (g: number) => text.slice(groups[g - 1]!, groups[g]!)
  const first = gap(from + 2)
  let end = from + 2
  while (end < groups.length && gap(end) === first) end += 2
  // The second of two may be the first of the next row.
  return end - from === 4 && end < groups.length ? from + 2 : end
}

/** Groups of whole bytes that no letter follows, from the one at `from` on. */
function groupsAt(text: string, from: number): Stretches {
  const groups: number[] = []
  let at = from
  for (
    let to = digitsEnd(text, at);
    to > at && (to - at) % 2 === 0 && !isWord(text.charCodeAt(to));
    to = digitsEnd(text, at)
  ) {
    groups.push(at, to)
    at = to
    for (let k = 0; k < longestGap && isSeparator(text.charCodeAt(at)); k++) at++
    if (at === to) break
    if (text.charCodeAt(at) === 48 && (text.charCodeAt(at + 1) | 32) === 120) at += 2
  }
  return groups
}

function isSeparator(code: number): boolean {
  return code < 128 && !isWord(code)
}

function digitsEnd(text: string, from: number): number {
  let i = from
  while (i < text.length && text.charCodeAt(i) < 128 && digit[text.charCodeAt(i)] === 1) i++
  return i
}

function isWord(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
}

function wordEnd(text: string, from: number): number {
  let i = from
  while (i < text.length && isWord(text.charCodeAt(i))) i++
  return i
}
