/**
 * Rates sequences of letters by the letter pairs of languages in Latin letters. Rotated letters and reversed words have
 * pairs that no language has, even where no word is known.
 */
import { DROP, foldUnit } from './characters.js'
import { englishWords } from './english.js'
import { languages } from './languages.js'

/** The letters a to z, and the edge of a word. */
const symbols = 27
const EDGE = 26
/** Count of a pair that occurs in no listed word. */
const unseen = 0.3
const all = [englishWords.slice(0, 600), ...languages]

/** By language and pair of symbols the logarithm of how likely the second is after the first, in hundredths of a nat. */
const likelihood = new Int16Array(all.length * symbols * symbols)
for (const [language, words] of all.entries()) {
  const counts = new Float64Array(symbols * symbols).fill(unseen)
  for (const [rank, word] of words.entries()) {
    // How often a word is written falls with its rank; its root lets rarer words show their letters too.
    const count = 10 / Math.sqrt(rank + 1)
    let before = EDGE
    for (let i = 0; i <= word.length; i++) {
      const symbol = i < word.length ? word.charCodeAt(i) - 97 : EDGE
      counts[before * symbols + symbol]! += count
      before = symbol
    }
  }
  for (let before = 0; before < symbols; before++) {
    const row = counts.subarray(before * symbols, (before + 1) * symbols)
    const sum = row.reduce((total, count) => total + count, 0)
    for (let symbol = 0; symbol < symbols; symbol++)
      likelihood[(language * symbols + before) * symbols + symbol] = Math.round(100 * Math.log(row[symbol]! / sum))
  }
}

const plain = new Int32Array(all.length)
const changed = new Int32Array(all.length)
const symbolsOf = new Uint8Array(64)
const changedOf = new Uint8Array(64)

export type Change = 'rotated' | 'turned'

/**
 * How much likelier the words of `text` in [from, to) are in the language that fits them best when each is changed than
 * as written, in hundredths of a nat a letter. 0 where there is no word of Latin letters.
 */
export function gainOf(text: string, from: number, to: number, change: Change): number {
  const letters = sumUp(text, from, to, change)
  return letters === 0 ? 0 : (most(changed) - most(plain)) / letters
}

/** How likely the words of `text` in [from, to) are in the language that fits them best, in hundredths of a nat a letter. */
export function fitOf(text: string, from: number, to: number): number {
  const letters = sumUp(text, from, to, 'turned')
  return letters === 0 ? Number.NEGATIVE_INFINITY : most(plain) / letters
}

/** @returns how many letters were added up */
function sumUp(text: string, from: number, to: number, change: Change): number {
  plain.fill(0)
  changed.fill(0)
  let letters = 0
  for (let i = from; i < to; i++) {
    let size = 0
    let isWord = true
    for (; i < to && size < symbolsOf.length; i++) {
      const code = text.charCodeAt(i)
      const folded = code < 128 ? code | 32 : foldUnit(code)
      if (folded === DROP) continue
      const symbol = folded - 97
      if (symbol < 0 || symbol >= EDGE) {
        if (folded > 127) isWord = false
        else break
      }
      symbolsOf[size] = symbol
      // A letter with an accent is not rotated.
      changedOf[size++] = change === 'rotated' && code < 128 ? (symbol + 13) % EDGE : symbol
    }
    if (size === 0 || !isWord) continue
    letters += size
    add(plain, symbolsOf, size, false)
    add(changed, changedOf, size, change === 'turned')
  }
  return letters
}

function add(sums: Int32Array, word: Uint8Array, size: number, isTurned: boolean): void {
  let before = EDGE
  for (let k = 0; k <= size; k++) {
    const symbol = k < size ? word[isTurned ? size - 1 - k : k]! : EDGE
    for (let language = 0, at = before * symbols + symbol; language < sums.length; language++, at += symbols * symbols)
      sums[language]! += likelihood[at]!
    before = symbol
  }
}

function most(sums: Int32Array): number {
  return sums.reduce((best, sum) => Math.max(best, sum), Number.NEGATIVE_INFINITY)
}
