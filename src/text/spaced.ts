/** Restores words with separated letters (`k i l l`, `k.i.l.l`) or repeated ones (`kiiiill`). */
import { isAsciiLetter, isLetter, isUnspaced } from './characters.js'
import type { KnownWords } from './known-words.js'
import { longestSeparator } from './places.js'
import { Edits } from './rewrite.js'

/** How many letters a drawn-out run stands for: one, two, or one for a vowel and two for a consonant. */
export type RunReading = 'one' | 'two' | 'mixed'
export const runReadings: readonly RunReading[] = ['one', 'two', 'mixed']

/** Fewer than this in a row, of single letters or of equal ones, are ordinary: initials, options, `ss`. */
const fewest = 3

/** Of a word with more such runs only one reading is tried. */
const mostRuns = 4

/**
 * A word that is known with some choice of one letter or two for each run is read so, any other as `run` says.
 * @param starts the first of each three or more equal letters
 */
export function drawnOutEdits(text: string, starts: readonly number[], run: RunReading, words: KnownWords): Edits {
  const edits = new Edits()
  const letterAt = (i: number) => text.slice(i, i + 1)
  for (let s = 0; s < starts.length; ) {
    const [from, to] = wordAround(text, starts[s]!)
    const runs: [from: number, to: number][] = []
    for (; s < starts.length && starts[s]! < to; s++) runs.push([starts[s]!, runEnd(text, starts[s]!)])
    const twice = knownChoice(text, from, to, runs, words) ?? runs.map(([i]) => isTwice(letterAt(i), run))
    for (const [k, [start, end]] of runs.entries()) edits.add(start, end, letterAt(start).repeat(twice[k] ? 2 : 1))
  }
  return edits
}

function isTwice(letter: string, run: RunReading): boolean {
  return run === 'two' || (run === 'mixed' && /[a-z]/i.test(letter) && !/[aiu]/i.test(letter))
}

function runEnd(text: string, from: number): number {
  const code = text.charCodeAt(from)
  let to = from + fewest
  while (text.charCodeAt(to) === code) to++
  return to
}

/** The letters of ASCII around a place; other letters stand alone. */
function wordAround(text: string, at: number): [from: number, to: number] {
  let from = at
  let to = runEnd(text, at)
  if (!isAsciiLetter(text.charCodeAt(at))) return [from, to]
  const least = at - longestWord
  const most = to + longestWord
  while (from > least && isAsciiLetter(text.charCodeAt(from - 1))) from--
  while (to < most && isAsciiLetter(text.charCodeAt(to))) to++
  return [from, to]
}

const longestWord = 64

/** By run whether it stands for two letters, where the word is known so: with as few letters as can be. */
function knownChoice(
  text: string,
  from: number,
  to: number,
  runs: readonly (readonly [from: number, to: number])[],
  words: KnownWords
): boolean[] | undefined {
  if (runs.length > mostRuns || to - from > 2 * longestWord || !isAsciiLetter(text.charCodeAt(from))) return undefined
  for (let choice = 0; choice < 1 << runs.length; choice++) {
    let word = ''
    let done = from
    for (const [k, [start, end]] of runs.entries()) {
      word += text.slice(done, start) + text.slice(start, start + (choice & (1 << k) ? 2 : 1))
      done = end
    }
    word += text.slice(done, to)
    if (words.means(word, 0, word.length)) return runs.map((_, k) => (choice & (1 << k)) !== 0)
  }
  return undefined
}

/**
 * Runs of single letters with the same separator between them; another separator is the space between two words.
 * @param starts the first letter of each run
 */
export function joinedEdits(text: string, starts: readonly number[], words: KnownWords): Edits {
  const edits = new Edits()
  const at: number[] = []
  for (const start of starts) {
    at.length = 0
    for (let next = start; next >= 0; next = nextSingle(text, next + 1)) at.push(next)
    if (at.length > 1) addRun(text, at, words, edits)
  }
  return edits
}

/** Behind a word that is broken at the end of its line. */
export const lineHyphen = '-\n'

/** Words broken at the end of a line. */
export function hyphenEdits(text: string): Edits {
  const edits = new Edits()
  for (let i = text.indexOf(lineHyphen); i >= 0; i = text.indexOf(lineHyphen, i + 2)) {
    if (isAsciiLetter(text.charCodeAt(i - 1)) && isAsciiLetter(text.charCodeAt(i + 2))) edits.add(i, i + 2, '')
  }
  return edits
}

/** Where the next single letter after a short separator stands, or -1. */
function nextSingle(text: string, from: number): number {
  let i = from
  while (i < text.length && i - from < longestSeparator && !isSign(text.charCodeAt(i))) i++
  return i > from && isSingle(text, i) ? i : -1
}

function isSingle(text: string, i: number): boolean {
  return isSign(text.charCodeAt(i)) && !isSign(text.charCodeAt(i - 1)) && !isSign(text.charCodeAt(i + 1))
}

/** Letters, digits, and the two signs that stand for letters and separate nothing. */
function isSign(code: number): boolean {
  return isLetter(code) || (code >= 48 && code <= 57) || code === 64 || code === 36
}

function addRun(text: string, at: readonly number[], words: KnownWords, edits: Edits): void {
  let letters = 0
  let unspaced = 0
  const separators = new Map<string, number>()
  for (let k = 0; k < at.length; k++) {
    const code = text.charCodeAt(at[k]!)
    if (code > 127 || (code | 32) >= 97) letters++
    if (isUnspaced(code)) unspaced++
    if (k > 0) {
      const separator = separatorBefore(text, at, k)
      separators.set(separator, (separators.get(separator) ?? 0) + 1)
    }
  }
  if (letters < fewest && unspaced < 2) return
  let usual = ''
  for (const [separator, count] of separators) if (count > (separators.get(usual) ?? 0)) usual = separator
  if (unspaced === 0 && !spells(text, at, (separators.get(usual) ?? 0) * 2 >= at.length - 1, words)) return
  for (let k = 1; k < at.length; k++) {
    const from = at[k - 1]! + 1
    const to = at[k]!
    const isApostrophe = /^\s*['\u2019]\s*$/.test(text.slice(from, to))
    if (unspaced === letters || isApostrophe || separatorBefore(text, at, k) === usual) edits.add(from, to, '')
    else if (to - from > 1 || !/\s/.test(text.slice(from, to))) edits.add(from, to, ' ')
  }
}

/** Single signs are one separator, whichever they are. */
function separatorBefore(text: string, at: readonly number[], k: number): string {
  const separator = text.slice(at[k - 1]! + 1, at[k]!)
  return separator.length === 1 && !/\s/.test(separator) ? '.' : separator
}

/** Whether letters spell something, and are no variables, options or initials: `a, b, c`, `x = y + z`. */
function spells(text: string, at: readonly number[], isEven: boolean, words: KnownWords): boolean {
  const letters = at.map((i) => text.charAt(i)).join('')
  if (letters.length <= fewest) return isEven && (words.has(letters) || /[^a-z]/i.test(letters))
  // Three letters at least: `x x x x` is drawn, not spelt.
  if (new Set(letters.toLowerCase()).size < 3) return false
  for (let k = 1; k < letters.length; k++) if (letters.charCodeAt(k) !== letters.charCodeAt(k - 1) + 1) return isEven
  return false
}
