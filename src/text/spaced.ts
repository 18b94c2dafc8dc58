/** Words taken apart (`k i l l`, `k.i.l.l`) or drawn out (`kiiiill`). */
import { foldUnit, isUnspaced, SPACE } from './characters.js'
import { Edits } from './rewrite.js'

/** How many letters a drawn-out run stands for: one, two, or one for a vowel and two for a consonant. */
export type RunReading = 'one' | 'two' | 'mixed'
export const runReadings: readonly RunReading[] = ['one', 'two', 'mixed']

/** Fewer than this in a row, of single letters or of equal ones, are ordinary: initials, options, `ss`. */
const fewest = 3
const longestSeparator = 3

export function drawnOutEdits(text: string, run: RunReading): Edits {
  const edits = new Edits()
  let from = 0
  for (let i = 1; i <= text.length; i++) {
    const code = text.charCodeAt(i - 1)
    if (code === text.charCodeAt(i)) continue
    if (i - from >= fewest && isAsciiLetter(code)) {
      const letter = String.fromCharCode(code)
      const twice = run === 'two' || (run === 'mixed' && !/[aiu]/i.test(letter))
      edits.add(from, i, twice ? letter + letter : letter)
    }
    from = i
  }
  return edits
}

function isAsciiLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
}

/** Runs of single letters with the same separator between them; another separator is the space between two words. */
export function joinedEdits(text: string): Edits {
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
    return isAsciiLetter(code) || (code >= 48 && code <= 57) || code === 64 || code === 36
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
    if (unspaced === letters || text.slice(from, to) === usual) edits.add(from, to, '')
    else if (to - from > 1 || !/\s/.test(text.slice(from, to))) edits.add(from, to, ' ')
  }
}
