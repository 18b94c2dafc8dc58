/**
 * Every letter replaced by another: shifted along the alphabet (Caesar's cipher, of which ROT13 is one) or mirrored in
 * it (atbash). Detected by the frequency of English letters; the result must consist of known words.
 */
import type { KnownWords } from '../known-words.js'
import type { Stretches } from '../places.js'
import { Edits } from '../rewrite.js'
import { frequency } from '../rotated.js'

const size = 26
/** Candidate 0 is atbash; any other is how far its letters are to be shifted. */
const ATBASH = 0

/** By letter and candidate, how much likelier the decoded letter is than the written one, in hundredths of a nat. */
const gain = new Int16Array(size * size)
for (let letter = 0; letter < size; letter++) {
  for (let candidate = 0; candidate < size; candidate++) {
    const likelier = Math.round(100 * Math.log(frequency[replaced(letter, candidate)]! / frequency[letter]!))
    // One letter decides little, however rare.
    gain[letter * size + candidate] = Math.max(-250, Math.min(250, likelier))
  }
}

/** Evidence that a stretch needs, in hundredths of a nat, and how much needs no more than some known words. */
const enough = 400
const plenty = 800
/** Shares of the letters that must stand in known words when replaced, and that may do so as written. */
const knownAfter = 0.4
const knownAfterLittle = 0.7
const knownBefore = 0.35

interface Stretch {
  candidate: number
  from: number
  to: number
  evidence: number
}

export type Substitution = 'atbash' | 'caesar' | 'rot13'

/** @param strange stretches where such text may occur */
export function substitutedEdits(
  text: string,
  strange: Stretches,
  words: KnownWords
): { layer: Substitution; edits: Edits } | undefined {
  const found: Stretch[] = []
  for (let s = 0; s < strange.length; s += 2) {
    const end = Math.min(strange[s + 1]!, text.length)
    findUnlikely(text, strange[s]!, end, found)
  }
  if (found.length === 0) return undefined
  const chosen: Stretch[] = []
  for (const stretch of found.sort((a, b) => b.evidence - a.evidence)) {
    if (chosen.length > 0 && chosen.some(({ from, to }) => stretch.from < to && from < stretch.to)) continue
    if (readsBetter(text, stretch, words)) chosen.push(stretch)
    // The best suffice: the next round finds the rest.
    if (chosen.length === mostStretches) break
  }
  if (chosen.length === 0) return undefined
  const edits = new Edits()
  let done = 0
  for (const [k, { from, to, candidate }] of chosen.sort((a, b) => a.from - b.from).entries()) {
    const start = extended(text, from, candidate, words, -1, done)
    done = extended(text, to, candidate, words, 1, chosen[k + 1]?.from ?? text.length)
    edits.add(start, done, replace(text.slice(start, done), candidate), 'same')
  }
  const { candidate } = chosen[0]!
  return { layer: candidate === ATBASH ? 'atbash' : candidate === 13 ? 'rot13' : 'caesar', edits }
}

const mostStretches = 64

/** Per letter, by how much it is less likely in English than the bound; hundredths of a nat, 289 in the mean of English, 400 in that of letters in disorder. */
const unlikelihood = Int16Array.from(frequency, (tenths) => Math.round(-100 * Math.log(tenths / 10_000)) - 330)
/** Sum of it over a stretch that is worth a closer look. */
const unlikely = 300

/** Letters around an unlikely stretch that belong to it, by chance likely. */
const margin = 24

/** Looks where the letters are none that European languages write (a CUSUM test), which is quickly told. */
function findUnlikely(text: string, from: number, to: number, found: Stretch[]): void {
  let sum = 0
  let most = 0
  let first = from
  let done = from
  for (let i = from; i <= to; i++) {
    const code = i < to ? text.charCodeAt(i) : 0
    if (i < to && !isLetter(code)) continue
    if (sum === 0) first = i
    sum = i < to ? Math.max(0, sum + unlikelihood[(code | 32) - 97]!) : 0
    if (sum > most) most = sum
    if (sum > 0) continue
    if (most >= unlikely) {
      const end = wordEnd(text, Math.min(i + margin, to))
      if (end > done) findStretches(text, Math.max(done, first - margin), end, found)
      done = Math.max(done, end)
    }
    most = 0
  }
}

function wordEnd(text: string, from: number): number {
  let i = from
  while (i < text.length && isLetter(text.charCodeAt(i))) i++
  return i
}

const sums = new Int32Array(size)
const starts = new Int32Array(size)
const best = new Int32Array(size)
const ends = new Int32Array(size)
const ofWord = new Int32Array(size)

/** For every candidate the stretches of words that it makes likelier (a CUSUM test, word by word). */
function findStretches(text: string, first: number, last: number, found: Stretch[]): void {
  sums.fill(0)
  best.fill(0)
  const close = (candidate: number) => {
    if (best[candidate]! >= enough) {
      found.push({ candidate, from: starts[candidate]!, to: ends[candidate]!, evidence: best[candidate]! })
    }
    sums[candidate] = 0
    best[candidate] = 0
  }
  let i = first
  // Half a word at the edge of the stretch says nothing.
  while (i > 0 && i < last && isLetter(text.charCodeAt(i)) && isLetter(text.charCodeAt(i - 1))) i++
  while (i < last) {
    if (!isLetter(text.charCodeAt(i))) {
      i++
      continue
    }
    const from = i
    ofWord.fill(0)
    for (; i < text.length; i++) {
      const letter = (text.charCodeAt(i) | 32) - 97
      if (!isLetter(text.charCodeAt(i))) break
      const row = letter * size
      for (let candidate = 0; candidate < size; candidate++) ofWord[candidate]! += gain[row + candidate]!
    }
    for (let candidate = 0; candidate < size; candidate++) {
      if (sums[candidate] === 0) starts[candidate] = from
      const sum = sums[candidate]! + ofWord[candidate]!
      sums[candidate] = sum
      if (sum > best[candidate]!) {
        best[candidate] = sum
        ends[candidate] = i
      } else if (sum <= 0 || best[candidate]! - sum > plenty) {
        close(candidate)
      }
    }
  }
  for (let candidate = 0; candidate < size; candidate++) close(candidate)
}

/** Words on either side that belong to a stretch, at most. */
const mostExtended = 16

/** Extends the edge of a stretch over neighbouring words that read no worse when replaced: rare words and names. */
function extended(
  text: string,
  edge: number,
  candidate: number,
  words: KnownWords,
  step: 1 | -1,
  bound: number
): number {
  let at = edge
  for (let k = 0; k < mostExtended; k++) {
    const beside = step > 0 ? text.slice(at, Math.min(at + 40, bound)) : text.slice(Math.max(bound, at - 40), at)
    const match = (
      step > 0 ? /^[^A-Za-z\n]{1,3}([A-Za-z]+)(?![A-Za-z])/ : /(?<![A-Za-z])([A-Za-z]+)[^A-Za-z\n]{1,3}$/
    ).exec(beside)
    if (match === null) return at
    const [whole, word] = match
    const read = replace(word!, candidate)
    if (!words.has(read) && (words.has(word!) || word!.length === 1) && !/^[ai]$/i.test(read)) return at
    at += step * whole.length
  }
  return at
}

function readsBetter(text: string, { from, to, candidate, evidence }: Stretch, words: KnownWords): boolean {
  const written = text.slice(from, Math.min(to, from + 2_048))
  const share = evidence >= plenty ? knownAfter : knownAfterLittle
  return holdsWords(replace(written, candidate), words, share) && !holdsWords(written, words, knownBefore)
}

/** Fewer letters, in fewer words, are known by chance. */
const fewestLetters = 10
const fewestWords = 2

/** Whether at least this share of the letters stand in known words, of which there are some. */
export function holdsWords(text: string, words: KnownWords, share: number): boolean {
  let letters = 0
  let known = 0
  let count = 0
  for (const [word] of text.matchAll(/[A-Za-z]{2,}/g)) {
    letters += word.length
    if (!words.has(word)) continue
    known += word.length
    count++
  }
  return known >= letters * share && known >= fewestLetters && count >= fewestWords
}

function replace(text: string, candidate: number): string {
  const codes = Buffer.from(text, 'utf16le')
  for (let i = 0; i < codes.length; i += 2) {
    if (codes[i + 1] !== 0 || !isLetter(codes[i]!)) continue
    const base = codes[i]! & 32 ? 97 : 65
    codes[i] = base + replaced(codes[i]! - base, candidate)
  }
  return codes.toString('utf16le')
}

function replaced(letter: number, candidate: number): number {
  return candidate === ATBASH ? size - 1 - letter : (letter + candidate) % size
}

function isLetter(code: number): boolean {
  const lower = code | 32
  return lower >= 97 && lower <= 122 && code < 128
}
