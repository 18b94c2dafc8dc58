/** Text written backwards, told by short common words that stand in it backwards: `eht`, `woh`, `ekam`. */
import type { KnownWords } from './known-words.js'
import { gainOf } from './letter-pairs.js'
import type { Stretches } from './places.js'
import { Edits } from './rewrite.js'
import { hasGaps, isWordUnit, turnOf } from './turned-line.js'

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

/**
 * Changes for the lines that read backwards: `lines` turns each around, `words` each word of it in its place; where the
 * shape of a line tells which, it is turned that way only.
 * @param within lines that touch none of these are not looked at; undefined: all are
 */
export function reversedEdits(text: string, within?: Stretches): { lines: Edits; words: Edits } {
  const edits = { lines: new Edits(), words: new Edits() }
  let stretch = 0
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from)
    const to = end < 0 ? text.length : end
    if (within !== undefined) {
      while (stretch < within.length && within[stretch + 1]! <= from) stretch += 2
      if (stretch === within.length) break
    }
    if (within === undefined || within[stretch]! < to) lineEdits(text, from, to, edits)
    from = to + 1
  }
  return edits
}

function lineEdits(text: string, from: number, to: number, edits: { lines: Edits; words: Edits }): void {
  let signs = 0
  let against = 0
  let key = 0
  for (let i = from; i <= to; i++) {
    const code = i < to ? text.charCodeAt(i) | 32 : 10
    if (code >= 97 && code <= 122) {
      if (key < tooLong) key = key * 27 + code - 96
      continue
    }
    // A word that goes on in other letters is none of English.
    if (code > 127 && isWordUnit(text.charCodeAt(i))) {
      key = tooLong
      continue
    }
    if (key > 27 && key < tooLong) {
      if (backwards.has(key)) signs++
      else if (ordinary.has(key)) against++
    }
    key = 0
  }
  const shape = turnOf(text, from, to)
  const reads =
    (signs >= 2 && signs > against * 2) ||
    (shape !== undefined && against <= signs) ||
    (against <= signs && readsTurned(text, from, to))
  if (reads && shape !== 'words') turn(text, from, to, true, edits.lines)
  if (reads && shape !== 'line') turn(text, from, to, false, edits.words)
}

/** Fewer units show too little of how letters follow each other, and more need not be looked at. */
const fewestUnits = 24
const mostUnits = 1_024
/** Hundredths of a nat a letter by which the words follow the ways of a language better backwards: half of what they do. */
const leastGain = 50

/** Whether the letters of a line follow each other as those of some language do backwards. */
function readsTurned(text: string, from: number, to: number): boolean {
  return (
    to - from >= fewestUnits &&
    hasGaps(text, from, to) &&
    gainOf(text, from, Math.min(to, from + mostUnits), 'turned') >= leastGain
  )
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
  // A mark that opens, before the letters, was not turned with them, nor a stop behind them.
  const mark = /^[¿¡"'“‘«([]+(?=\p{L})/u.exec(word)
  if (mark !== null && !/[¿¡“‘«([]$/.test(word)) {
    turnWord(word.slice(mark[0].length), at + mark[0].length, edits)
    return
  }
  const stop = /(?<=\p{L})[.,;:?!…"'”’)\]]+$/u.exec(word)
  if (stop !== null && !/^[.,;:?!…]/.test(word)) {
    if (stop.index > 1) turnWord(word.slice(0, stop.index), at, edits)
    return
  }
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
