/** Bytes written in hexadecimal: one run (`6b696c6c`, `0x6b69…`) or set apart (`6b 69`, `6b:69`, `0x6b, 0x69`, `6b69 6c6c`). */
import type { Stretches } from '../places.js'
import { isNoAccident, readable } from '../readable.js'
import { Edits } from '../rewrite.js'

const digit = new Uint8Array(128)
for (const c of '0123456789abcdefABCDEF') digit[c.charCodeAt(0)] = 1

const fewestBytes = 4

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
  let hex = ''
  if ((end - from) % 2 === 0 && !isWord(text.charCodeAt(end))) {
    const groups: string[] = []
    end = readGroups(text, from, groups)
    hex = groups.join('')
  }
  if (hex.length >= fewestBytes * 2) {
    const decoded = readable(Buffer.from(hex, 'hex'))
    const isText = decoded !== undefined && (/[A-Za-z]{2}|[^\x00-\x7f]{2}/.test(decoded) || isNoAccident(decoded))
    if (isText) edits.add(start(text, from), end, decoded)
  }
  return isWord(text.charCodeAt(end)) ? wordEnd(text, end) : end
}

/** A `0x` in front belongs to the run. */
function start(text: string, from: number): number {
  return text.charCodeAt(from - 2) === 48 && (text.charCodeAt(from - 1) | 32) === 120 ? from - 2 : from
}

/** Groups of whole bytes that no letter follows. @returns the end of the last */
function readGroups(text: string, from: number, groups: string[]): number {
  let end = from
  let at = from
  for (
    let to = digitsEnd(text, at);
    to > at && (to - at) % 2 === 0 && !isWord(text.charCodeAt(to));
    to = digitsEnd(text, at)
  ) {
    groups.push(text.slice(at, to))
    end = to
    at = to
    // At most `, 0x` stands between two groups.
    for (let k = 0; k < 3 && isSeparator(text.charCodeAt(at)); k++) at++
    if (at === end) break
    if (text.charCodeAt(at) === 48 && (text.charCodeAt(at + 1) | 32) === 120) at += 2
  }
  return end
}

const separators = new Uint8Array(128)
for (const sign of ' :,-\n;./|_\r\t') separators[sign.charCodeAt(0)] = 1

function isSeparator(code: number): boolean {
  return code < 128 && separators[code] === 1
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
