/** Text written backwards, told by short common words that stand in it backwards: `eht`, `woh`, `ekam`. */
import { foldUnit, isUnspaced, SPACE } from './characters.js'
import type { KnownWords } from './known-words.js'
import type { Stretches } from './places.js'
import { Edits } from './rewrite.js'

/** Words that are none in English when reversed, so that seeing one is a sign. */
const forwards =
  `the and you for that this with have from your what how make they will would can could tell give about which their
  when there one all get use want kill bomb me my of to is in it be by or`.split(/\s+/)

/** Keys of words of up to five letters: base 27, a is 1. */
const backwards = new Set(forwards.map((word) => keyOf([...word].reverse().join(''))))
const ordinary = new Set(forwards.map(keyOf))

function keyOf(word: string): number {
  let key = 0
  for (let i = 0; i < word.length; i++) key = key * 27 + word.charCodeAt(i) - 96
  return key
}

export const longestBackwards = 5
const tooLong = 27 ** longestBackwards

/** Per first and last letter of such a word, one bit for its length: most words are told apart without a look at the rest. */
const edges = new Uint8Array(1 << 10)
for (const word of forwards)
  edges[((word.charCodeAt(word.length - 1) & 31) << 5) | (word.charCodeAt(0) & 31)]! |= 1 << word.length

/** Whether a word of two to five ASCII letters is a common one backwards. */
export function readsBackwards(units: Uint16Array, from: number, to: number): boolean {
  if (((edges[((units[from]! & 31) << 5) | (units[to - 1]! & 31)]! >> (to - from)) & 1) === 0) return false
  let key = 0
  for (let i = from; i < to; i++) key = key * 27 + (units[i]! & 31)
  return backwards.has(key)
}

/** How many such words a stretch holds of which not all are ASCII letters. */
export function countBackwards(units: Uint16Array, from: number, to: number): number {
  let count = 0
  for (let i = from, start = from; i <= to; i++) {
    const lower = i < to ? units[i]! | 32 : 0
    if (lower >= 97 && lower <= 122) continue
    if (i - start > 1 && i - start <= longestBackwards && readsBackwards(units, start, i)) count++
    start = i + 1
  }
  return count
}

/** Which way a line was turned round, where its shape tells. */
type Turn = 'line' | 'words'

/** Ends of sentences in many scripts. */
const stops = new Set([...'?!.\u3002\uff01\uff1f\u061f\u0964\u06d4\u2026'].map((stop) => stop.charCodeAt(0)))
const STOP = 46
/** A line of fewer words shows too little. */
const fewestGaps = 2

/**
 * Whatever the language, a line that was turned round begins with the stop of its sentence and ends with the capital of
 * its first word; where each word was turned in its place, the first one ends with its capital.
 */
function turnOf(text: string, lineStart: number, lineEnd: number): Turn | undefined {
  let from = lineStart
  let to = lineEnd
  while (from < to && isBidiControl(text.charCodeAt(from))) from++
  while (from < to && isBidiControl(text.charCodeAt(to - 1))) to--
  if (to - from < 4) return undefined
  const first = text.charCodeAt(from)
  const stopsFirst = stops.has(first) && isWordUnit(text.charCodeAt(from + 1)) && !stops.has(text.charCodeAt(to - 1))
  const endsUpper = isUpperAfterLower(text, to - 1)
  if (stopsFirst || endsUpper) {
    if (first !== STOP && stopsFirst && isUnspaced(text.charCodeAt(from + 1))) return 'line'
    // A dot before a word is a name's, and so may a capital be: one of the two is not enough.
    const isSure = (stopsFirst && (first !== STOP || endsUpper)) || (endsUpper && hasTurnedStop(text, from, to))
    return isSure && hasGaps(text, from, to) ? 'line' : undefined
  }
  if (!isLowerUnit(first)) return undefined
  let end = from
  while (end < to && isWordUnit(text.charCodeAt(end))) end++
  return end - from > 2 && isUpperAfterLower(text, end - 1) && hasGaps(text, from, to) ? 'words' : undefined
}

function isBidiControl(code: number): boolean {
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)
}

function hasGaps(text: string, from: number, to: number): boolean {
  let at = from
  for (let k = 0; k < fewestGaps; k++) {
    at = text.indexOf(' ', at) + 1
    if (at === 0 || at >= to) return false
  }
  return true
}

/** A stop or a comma before a word, behind a space. */
function hasTurnedStop(text: string, from: number, to: number): boolean {
  return /(?:^|\s)[,;:?!.]\p{L}/u.test(text.slice(from, Math.min(to, from + 4_096)))
}

function isWordUnit(code: number): boolean {
  return foldUnit(code) > SPACE
}

function isLowerUnit(code: number): boolean {
  return code < 128 ? code >= 97 && code <= 122 : isWordUnit(code) && isCased(code) && !isUpper(code)
}

function isUpper(code: number): boolean {
  if (code < 128) return code >= 65 && code <= 90
  const letter = String.fromCharCode(code)
  return letter.toLowerCase() !== letter
}

function isCased(code: number): boolean {
  const letter = String.fromCharCode(code)
  return letter.toUpperCase() !== letter || letter.toLowerCase() !== letter
}

function isUpperAfterLower(text: string, at: number): boolean {
  return isUpper(text.charCodeAt(at)) && isLowerUnit(text.charCodeAt(at - 1))
}

/** Whether the shape of some line tells that it was turned round. A look at the edges of each line. */
export function hasTurnedLine(text: string): boolean {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from)
    const to = end < 0 ? text.length : end
    if (turnOf(text, from, to) !== undefined) return true
    from = to + 1
  }
  return false
}

/**
 * Changes for the lines that read backwards.
 * @param whole true turns each such line around, false each word of it in its place; where the shape of a line tells
 * which, it is turned that way only
 */
export function reversedEdits(text: string, whole: boolean): Edits {
  const edits = new Edits()
  let lineStart = 0
  let signs = 0
  let against = 0
  let key = 0
  for (let i = 0; i <= text.length; i++) {
    const code = i < text.length ? text.charCodeAt(i) | 32 : 10
    if (code >= 97 && code <= 122) {
      if (key < tooLong) key = key * 27 + code - 96
      continue
    }
    if (key > 27 && key < tooLong) {
      if (backwards.has(key)) signs++
      else if (ordinary.has(key)) against++
    }
    key = 0
    if (i === text.length || text.charCodeAt(i) === 10) {
      const shape = turnOf(text, lineStart, i)
      const reads = (signs >= 2 && signs > against * 2) || (shape !== undefined && against <= signs)
      if (reads && shape !== (whole ? 'words' : 'line')) turn(text, lineStart, i, whole, edits)
      lineStart = i + 1
      signs = 0
      against = 0
    }
  }
  return edits
}

/** Known words backwards, less those that are known as written, that suffice where the common ones did not; a long one counts three. */
const fewestKnown = 6

/**
 * Changes for the stretches inside lines that read backwards.
 * @param strange where they may stand
 */
export function reversedRunEdits(text: string, strange: Stretches, words: KnownWords, whole: boolean): Edits {
  const edits = new Edits()
  for (let s = 0; s < strange.length; s += 2) {
    let sum = 0
    let best = 0
    let from = 0
    let to = 0
    for (let i = strange[s]!; i < strange[s + 1]!; i++) {
      const first = i
      while (isLetter(text.charCodeAt(i))) i++
      if (i - first < 2) continue
      // Two letters read both ways in some language.
      const weight = Math.min(i - first, 4) - 1
      const isBackwards = words.hasReversedAt(text, first, i)
      if ((isBackwards || sum > 0) && words.hasAt(text, first, i)) {
        sum = Math.max(0, sum - weight)
      } else if (isBackwards) {
        if (sum === 0) from = first
        sum += weight
        if (sum > best) {
          best = sum
          to = i
        }
      } else {
        // English backwards is made of known words for the most part; in another language one in ten is.
        sum = Math.max(0, sum - weight / 6)
      }
      if (sum === 0 && best > 0) {
        if (best >= fewestKnown) turn(text, from, to, whole, edits)
        best = 0
      }
    }
    if (best >= fewestKnown) turn(text, from, to, whole, edits)
  }
  return edits
}

function isLetter(code: number): boolean {
  const lower = code | 32
  return lower >= 97 && lower <= 122 && code < 128
}

function turn(text: string, from: number, to: number, whole: boolean, edits: Edits): void {
  const line = text.slice(from, to)
  if (whole) edits.add(from, to, reverse(line), 'reversed')
  else for (const { 0: word, index } of line.matchAll(/[^\s]{2,}/g)) turnWord(word, from + index, edits)
}

/** Around an apostrophe the longer part comes first (`user's`): where it does not, the word was turned as a whole. */
function turnWord(word: string, at: number, edits: Edits): void {
  const inner = /^[^\p{L}]*(\p{L}+)['\u2019](\p{L}+)/u.exec(word)
  if (inner === null || inner[1]!.length < inner[2]!.length) {
    edits.add(at, at + word.length, reverse(word), 'reversed')
    return
  }
  for (const { 0: part, index } of word.matchAll(/\p{L}{2,}/gu)) {
    edits.add(at + index, at + index + part.length, reverse(part), 'reversed')
  }
}

/** Unit by unit, so that offsets mirror, with surrogate pairs put right. */
function reverse(text: string): string {
  const units = new Uint16Array(text.length)
  for (let i = 0, last = text.length - 1; i <= last; i++) units[last - i] = text.charCodeAt(i)
  const turned = Buffer.from(units.buffer).toString('utf16le')
  return turned.replace(/([\udc00-\udfff])([\ud800-\udbff])/g, '$2$1')
}
