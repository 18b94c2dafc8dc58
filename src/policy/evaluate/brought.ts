/**
 * Fingerprints of the texts that tools have returned in a session. They identify such text where it comes back among
 * other words, since agents paste tool results into their own messages. Fingerprints are chosen by winnowing
 * (Schleimer, Wilkerson, Aiken 2003): of every `window` consecutive runs of `run` letters one is kept, so that any copy
 * of `run + window - 1` letters shares one.
 */
import type { Span } from '../../text/fold.js'
import { merged } from '../../text/spans.js'

/** Letters of a fingerprint: shorter runs are everyday words. */
const run = 24
const window = 40
/** Fingerprints kept per session, the newest: for about 20,000 letters. */
const most = 1024
/** UTF-16 units of one result that are read, from its end: fingerprints of more would not be kept. */
const mostUnits = 65_536
const bytesOfOne = 4

/** Adds a tool's new result to the earlier fingerprints. @param brought base64; undefined: nothing yet */
export function bringMore(brought: string | undefined, texts: readonly string[]): string | undefined {
  const known = new Set(read(brought))
  for (const text of lastOf(texts)) {
    for (const print of chosenOf(text)) {
      // A repeated fingerprint counts as new.
      known.delete(print)
      known.add(print)
    }
  }
  return known.size === 0 ? undefined : write([...known].slice(-most))
}

/** The set of fingerprints that `bringMore` wrote, for searching texts. */
export function printsOf(brought: string): ReadonlySet<number> {
  return new Set(read(brought))
}

function lastOf(texts: readonly string[]): string[] {
  const kept: string[] = []
  let room = mostUnits
  for (let i = texts.length - 1; i >= 0 && room > 0; i--) {
    const end = texts[i]!.slice(-room)
    kept.unshift(end)
    room -= end.length
  }
  return kept
}

/**
 * @returns the places where a text repeats results of tools, from left to right, each extended to its line or sentence
 */
export function broughtIn(text: string, known: ReadonlySet<number>): Span[] {
  const spans: Span[] = []
  let lastLetter = Number.NEGATIVE_INFINITY
  eachRun(text, (print, start, end, letter) => {
    if (!known.has(print)) return
    const last = spans.at(-1)
    // A verbatim copy shares a fingerprint at least this often.
    if (last !== undefined && letter - lastLetter <= window) last.end = end
    else spans.push({ start, end })
    lastLetter = letter
  })
  return spans.length === 0 ? spans : merged(spans.map((span) => widened(text, span)))
}

/** The least of each window, once. */
function chosenOf(text: string): number[] {
  const chosen: number[] = []
  const ring = new Uint32Array(window)
  let count = 0
  let least = -1
  eachRun(text, (print) => {
    const isLeft = count - least >= window
    // The rightmost of equals, so that a text of one letter has few.
    const isLeast = least < 0 || (!isLeft && print <= ring[least % window]!)
    ring[count % window] = print
    if (isLeast) least = count
    else if (isLeft) {
      least = count
      for (let i = count - 1; i > count - window; i--) if (ring[i % window]! < ring[least % window]!) least = i
    }
    if (++count >= window && chosen.at(-1) !== ring[least % window]!) chosen.push(ring[least % window]!)
  })
  if (count > 0 && count < window) chosen.push(ring[least % window]!)
  return chosen
}

const base = 0x01000193
const leading = Array.from({ length: run }).reduce<number>((power) => Math.imul(power, base), 1)

/**
 * @param told called with each run of letters: its fingerprint, its place in the text, and the number of its last
 *   letter. Marks, blanks and capitals do not count, since copies are often reformatted.
 */
function eachRun(text: string, told: (print: number, start: number, end: number, letter: number) => void): void {
  const letters = new Uint16Array(run)
  const places = new Uint32Array(run)
  let hash = 0
  let count = 0
  for (let i = 0; i < text.length; i++) {
    const letter = letterOf(text.charCodeAt(i))
    if (letter === 0) continue
    const slot = count % run
    hash = (Math.imul(hash, base) + letter) | 0
    if (count >= run) hash = (hash - Math.imul(letters[slot]!, leading)) | 0
    letters[slot] = letter
    places[slot] = i
    if (++count >= run) told(mixed(hash), places[count % run]!, i + 1, count)
  }
}

/** @returns 0 unless it is a letter or a digit */
function letterOf(code: number): number {
  if (code < 0x80) {
    if (code >= 0x61 && code <= 0x7a) return code
    if (code >= 0x41 && code <= 0x5a) return code | 0x20
    return code >= 0x30 && code <= 0x39 ? code : 0
  }
  // Signs of Latin-1, and general, Chinese and Japanese punctuation.
  const isMark =
    code < 0xc0 || (code >= 0x2000 && code < 0x2070) || (code >= 0x3000 && code < 0x3040) || code === 0xfeff
  return isMark ? 0 : code
}

/** Neighbours differ in few bits, and the least of them must be any (MurmurHash3, the last steps). */
function mixed(hash: number): number {
  let h = hash ^ (hash >>> 16)
  h = Math.imul(h, 0x85ebca6b)
  h ^= h >>> 13
  h = Math.imul(h, 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** UTF-16 units in which the end of a sentence is searched. */
const reach = 160

function widened(text: string, { start, end }: Span): Span {
  let from = start
  const least = Math.max(0, start - reach)
  while (from > least && !isEnd(text, from - 1)) from--
  let to = end
  const furthest = Math.min(text.length, end + reach)
  while (to < furthest && !isEnd(text, to - 1)) to++
  return { start: from, end: to }
}

/** Whether a sentence or a line ends with this unit. */
function isEnd(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code === 0x0a || code === 0x0d || code === 0x3002) return true
  const isMark = code === 0x2e || code === 0x21 || code === 0x3f
  return isMark && (at + 1 === text.length || text.charCodeAt(at + 1) <= 0x20)
}

function read(brought: string | undefined): number[] {
  if (brought === undefined) return []
  const bytes = Buffer.from(brought, 'base64')
  return Array.from({ length: Math.floor(bytes.length / bytesOfOne) }, (_, i) => bytes.readUInt32LE(i * bytesOfOne))
}

function write(prints: readonly number[]): string {
  const bytes = Buffer.alloc(prints.length * bytesOfOne)
  for (const [i, print] of prints.entries()) bytes.writeUInt32LE(print, i * bytesOfOne)
  return bytes.toString('base64')
}
