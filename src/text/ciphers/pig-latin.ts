/** Pig Latin: the first consonants of each word at its end, with `ay`; `way`, `yay` or `ay` alone behind a first vowel. */
import type { KnownWords } from '../known-words.js'
import type { Stretches } from '../places.js'
import { Edits } from '../rewrite.js'

/** Least words in a row with this ending: fewer are ordinary (`may`, `today`). */
const fewest = 3

/** @param strange stretches where it may occur */
export function pigLatinEdits(text: string, strange: Stretches, words: KnownWords): Edits {
  const edits = new Edits()
  for (let s = 0; s < strange.length; s += 2) {
    const first = strange[s]!
    const part = text.slice(first, strange[s + 1]!)
    if (!part.includes('ay')) continue
    let row: RegExpMatchArray[] = []
    const close = () => {
      if (row.length >= fewest) addRow(row, first, words, edits)
      row = []
    }
    for (const match of part.matchAll(/[A-Za-z]+/g)) {
      if (/^[a-z]+ay$/i.test(match[0])) row.push(match)
      else close()
    }
    close()
  }
  return edits
}

function addRow(row: readonly RegExpMatchArray[], first: number, words: KnownWords, edits: Edits): void {
  const read = row.map(([word]) => unturned(word, words))
  if (read.filter(({ isKnown }) => isKnown).length * 2 < row.length) return
  for (const [k, match] of row.entries()) {
    const from = first + match.index!
    edits.add(from, from + match[0].length, read[k]!.word)
  }
}

function unturned(word: string, words: KnownWords): { word: string; isKnown: boolean } {
  const stem = word.slice(0, -2)
  const readings = [0, 1, 2, 3]
    .filter((moved) => moved < stem.length || moved === 0)
    .map((moved) => (moved === 0 ? stem : stem.slice(-moved) + stem.slice(0, -moved)))
  if (/[wy]$/i.test(stem)) readings.push(stem.slice(0, -1))
  const known = readings.find((reading) => (reading.length === 1 ? /[ai]/i.test(reading) : words.has(reading)))
  return { word: known ?? readings[1] ?? stem, isKnown: known !== undefined }
}
