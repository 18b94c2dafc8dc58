/** Finds the places where a reading reveals new words: one that only converts nonsense into other nonsense need not be judged. */
import { foldUnit, SPACE } from './characters.js'
import type { KnownWords } from './known-words.js'
import { fitOf } from './letter-pairs.js'

/** Shorter words stand everywhere. */
const shortestWord = 3
/** Words that run together are found in a later reading: see `split.ts`. */
const shortestRun = 12
/**
 * How well their letters follow each other at least, in hundredths of a nat a letter: so do 99 of 100 pairs of words, and
 * three of ten numbers in hexadecimal, with letters in the place of digits.
 */
const leastFit = -365

/**
 * @param changed where in `text` something was changed: `from` and `to` by turns
 * @returns the numbers of the changes that show a word, in their order
 */
export function revealing(text: string, changed: readonly number[], words: KnownWords): number[] {
  const found: number[] = []
  let done = 0
  let isShown = false
  for (let k = 0; k < changed.length; k += 2) {
    let from = changed[k]!
    // Several changes within one word show the same.
    if (from >= done) {
      while (from > done && isLetter(text.charCodeAt(from - 1))) from--
      done = from
      isShown = false
    }
    // All words that the change touches.
    for (let i = done; i <= changed[k + 1]! && i < text.length; i++) {
      const first = i
      while (isLetter(text.charCodeAt(i))) i++
      done = i
      isShown ||= isWord(text, first, i, words)
    }
    // A word in another script cannot be checked.
    if (isShown || isForeign(text.charCodeAt(changed[k]!))) found.push(k / 2)
  }
  return found
}

function isWord(text: string, from: number, to: number, words: KnownWords): boolean {
  const size = to - from
  if (size < shortestWord) return false
  // A word that continues in digits or another script may be read further, or cannot be checked.
  if (goesOn(text.charCodeAt(to)) || goesOn(text.charCodeAt(from - 1))) return true
  return words.means(text, from, to) || (size >= shortestRun && fitOf(text, from, to) >= leastFit)
}

function isLetter(code: number): boolean {
  const lower = code | 32
  return lower >= 97 && lower <= 122 && code < 128
}

function isForeign(code: number): boolean {
  return code >= 128 && foldUnit(code) > SPACE
}

function goesOn(code: number): boolean {
  return isForeign(code) || (code >= 48 && code <= 57)
}
