/** Base64 (RFC 4648 sections 4 and 5: standard and URL-safe), one line or wrapped as MIME wraps it; in pieces: `base64-pieces.ts`. */
import type { Stretches } from '../places.js'
import { isNoAccident, readable } from '../readable.js'
import { Edits } from '../rewrite.js'

/** 1 letter or digit, 2 one of `+/-_`, 0 anything else. */
const kinds = new Uint8Array(128)
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789') kinds[c.charCodeAt(0)] = 1
for (const c of '+/-_') kinds[c.charCodeAt(0)] = 2

const shortest = 8
/** The shortest run before padding: four bytes. */
const shortestPadded = 6
/** A line of at least this length may go on in the next. */
const wrapped = 32

/** @param tokens stretches where it may occur */
export function base64Edits(text: string, tokens: Stretches): Edits {
  const edits = new Edits()
  let i = 0
  for (let s = 0; s < tokens.length; s += 2) {
    // A run over several lines has consumed the next ones.
    for (i = Math.max(i, tokens[s]!); i < tokens[s + 1]!; ) {
      if (inAlphabet(text.charCodeAt(i))) i = readRun(text, i, edits)
      else i++
    }
  }
  return edits
}

/** @returns where the run that starts at `from` ends, with its further lines where it is encoded */
function readRun(text: string, from: number, edits: Edits): number {
  const first = runEnd(text, from)
  const fewest = text.charCodeAt(first) === 61 ? shortestPadded : shortest
  if (first - from < fewest || !looksEncoded(text, from, first)) return first
  let end = first
  let line = from
  while (end - line >= wrapped) {
    const next = text.charCodeAt(end) === 13 ? end + 1 : end
    if (text.charCodeAt(next) !== 10 || !inAlphabet(text.charCodeAt(next + 1))) break
    line = next + 1
    end = runEnd(text, line)
  }
  const lines = end
  for (let k = 0; k < 2 && text.charCodeAt(end) === 61; k++) end++
  if (!decodeRun(text, from, end, edits) && lines > first) eachLine(text, from, lines, edits)
  return end
}

/** The lines of a run that is no text as a whole. */
function eachLine(text: string, from: number, to: number, edits: Edits): void {
  for (let line = from; line < to; ) {
    const end = Math.min(runEnd(text, line), to)
    if (end - line >= shortest) decodeRun(text, line, end, edits)
    line = end + 1
    while (line < to && !inAlphabet(text.charCodeAt(line))) line++
  }
}

export function inAlphabet(code: number): boolean {
  return code < 128 && kinds[code] !== 0
}

export function runEnd(text: string, from: number): number {
  let i = from
  while (i < text.length && inAlphabet(text.charCodeAt(i))) i++
  return i
}

/** Ordinary words have no digit and no capital after their first letter; nearly all base64 has. */
function looksEncoded(text: string, from: number, to: number): boolean {
  if (text.charCodeAt(to) === 61) return true
  let capitals = 0
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i)
    if (code >= 48 && code <= 57) return true
    if (code >= 65 && code <= 90 && i > from) capitals++
  }
  return capitals > 0 || to - from >= 64
}

function decodeRun(text: string, from: number, to: number, edits: Edits): boolean {
  const run = text.slice(from, to)
  const decoded = decodeText(run)
  if (decoded !== undefined) {
    edits.add(from, to, decoded)
    return true
  }
  // A path or a prefix in front shifts the alignment: parts may be encoded where the whole is not.
  if (run.length > 4096 || !/[/_+-]/.test(run)) return false
  let found = false
  let at = from
  for (const part of run.split(/[/_+-]/)) {
    const inner = part.length >= shortest + 4 && looksEncoded(part, 0, part.length) ? decodeText(part) : undefined
    if (inner !== undefined) {
      edits.add(at, at + part.length, inner)
      found = true
    }
    at += part.length + 1
  }
  return found
}

function decodeText(run: string): string | undefined {
  const bytes = Buffer.from(run, 'base64')
  const text = bytes.length >= 4 ? readable(bytes) : undefined
  if (text === undefined) return undefined
  // Short runs decode to printable characters by chance, so the result must be words.
  if (!/[A-Za-z]{2}|[^\x00-\x7f]{2}/.test(text) && !isNoAccident(text)) return undefined
  return run.length >= 24 || /^[\p{L}\p{N} .,!?'"%/:;&=+\n-]+$/u.test(text) ? text : undefined
}
