/** Whether a reading reveals new words: one that only converts nonsense into other nonsense need not be judged. */
import { foldUnit, SPACE } from './characters.js'
import type { KnownWords } from './known-words.js'

/** Shorter words stand everywhere. */
const shortestWord = 3
/** Words that run together are found in a later reading: see `split.ts`. */
const shortestRun = 12

/** @param changed where in `text` something was changed: `from` and `to` by turns */
export function revealsWord(text: string, changed: readonly number[], words: KnownWords): boolean {
  let done = 0
  for (let k = 0; k < changed.length; k += 2) {
    let from = changed[k]!
    if (from < done) continue
    // A word in another script, which cannot be checked.
    if (isForeign(text.charCodeAt(from))) return true
    while (from > done && isLetter(text.charCodeAt(from - 1))) from--
    // All words that the change touches.
    for (let i = from; i <= changed[k + 1]! && i < text.length; i++) {
      const first = i
      while (isLetter(text.charCodeAt(i))) i++
      done = i
      const size = i - first
      if (size < shortestWord) continue
      // A word that continues in digits or another script may be read further, or cannot be checked.
      if (size >= shortestRun || goesOn(text.charCodeAt(i)) || goesOn(text.charCodeAt(first - 1))) return true
      if (words.means(text, first, i)) return true
    }
  }
  return false
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
