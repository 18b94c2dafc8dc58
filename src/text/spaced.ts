/** Words taken apart (`k i l l`, `k.i.l.l`) or drawn out (`kiiiill`). */
import { foldUnit, isUnspaced, SPACE } from './characters.js'
import { Edits } from './rewrite.js'

/** How many letters a drawn-out run stands for: one, two, or one for a vowel and two for a consonant. */
export type RunReading = 'one' | 'two' | 'mixed'
export const runReadings: readonly RunReading[] = ['one', 'two', 'mixed']

/** Fewer single letters than this in a row are initials and options. */
const fewest = 3
const longestSeparator = 3

/** Whether text holds a run of three equal letters. */
export function hasDrawnOut(text: string): boolean {
  return /([A-Za-z])\1\1/.test(text)
}

export function spacedEdits(text: string, run: RunReading): Edits {
  return joinedEdits(text).merged(drawnOutEdits(text, run))
}

function drawnOutEdits(text: string, run: RunReading): Edits {
  const edits = new Edits()
  for (const { 0: letters, 1: letter, index } of text.matchAll(/([A-Za-z])\1{2,}/g)) {
    const twice = run === 'two' || (run === 'mixed' && !/[aiu]/i.test(letter!))
    edits.add(index, index + letters.length, twice ? letter! + letter! : letter!)
  }
  return edits
}

/** Runs of single letters with the same separator between them; another separator is the space between two words. */
function joinedEdits(text: string): Edits {
  const edits = new Edits()
  const length = text.length
  const at: number[] = []
  for (let i = 0; i < length; ) {
    if (!isSingle(text, i)) {
      i++
      continue
    }
    at.length = 0
    let next = i
    while (next >= 0) {
      at.push(next)
      i = next + 1
      next = nextSingle(text, i)
    }
    if (at.length > 1) addRun(text, at, edits)
  }
  return edits
}

/** Where the next single letter after a short separator stands, or -1. */
function nextSingle(text: string, from: number): number {
  let i = from
  while (i < text.length && i - from < longestSeparator && !isLetter(text.charCodeAt(i))) i++
  return i > from && isSingle(text, i) ? i : -1
}

function isSingle(text: string, i: number): boolean {
  return isLetter(text.charCodeAt(i)) && !isLetter(text.charCodeAt(i - 1)) && !isLetter(text.charCodeAt(i + 1))
}

/** Letters, digits, and the two signs that stand for letters and separate nothing. */
function isLetter(code: number): boolean {
  if (code < 128) {
    return (
      (code >= 97 && code <= 122) ||
      (code >= 48 && code <= 57) ||
      (code >= 65 && code <= 90) ||
      code === 64 ||
      code === 36
    )
  }
  // NaN beyond the ends compares false above and here.
  return code >= 128 && foldUnit(code) > SPACE
}

function addRun(text: string, at: readonly number[], edits: Edits): void {
  let letters = 0
  let unspaced = 0
  const separators = new Map<string, number>()
  for (let k = 0; k < at.length; k++) {
    const code = text.charCodeAt(at[k]!)
    if (code > 127 || (code | 32) >= 97) letters++
    if (isUnspaced(code)) unspaced++
    if (k > 0) {
      const separator = text.slice(at[k - 1]! + 1, at[k]!)
      separators.set(separator, (separators.get(separator) ?? 0) + 1)
    }
  }
  if (letters < fewest && unspaced < 2) return
  let usual = ''
  for (const [separator, count] of separators) if (count > (separators.get(usual) ?? 0)) usual = separator
  for (let k = 1; k < at.length; k++) {
    const from = at[k - 1]! + 1
    const to = at[k]!
    if (text.slice(from, to) === usual) edits.add(from, to, '')
    else if (to - from > 1 || !/\s/.test(text.slice(from, to))) edits.add(from, to, ' ')
  }
}
