/** A dictionary of known words, which distinguishes language from scrambled letters. */
import { englishWords } from './english.js'
import { LetterTree, letters } from './letter-tree.js'
import type { Stretches } from './places.js'
import { nextHash, startHash } from './word-hash.js'

/** Terms of a policy of two or three letters would fit anywhere. */
const costOfShortTerm = 8
/** Letters in unknown words, less those in known ones, that are no name. */
const fewestUnknown = 10
/** Letters around a run that belong to it, by chance known. */
const margin = 16

/** Known words stand for their other forms too. */
export const endings: ReadonlySet<string> = new Set(
  `s es d ed r er ers ing ings ly e ion ions ally ity istic istics able ment ments ness ship ation ations ization izations ized
  izing`.split(/\s+/)
)
export const shortestStem = 4

export class KnownWords {
  /** The commonest words of English alone. */
  static readonly english = new KnownWords([])
  readonly #tree: LetterTree
  /** Per node 0, or where a word ends its cost: twice the logarithm of its rank by frequency. */
  readonly #costs: Uint8Array
  /** Per node whether a beginning ends at it, or before: whatever follows, a phrase matches. */
  readonly #begins: Uint8Array
  /** The words' hashes, by open addressing: one look-up a word, where the tree needs one a letter. */
  readonly #hashes: Int32Array

  /**
   * @param phrases further words, in any text: runs of two and more ASCII letters are taken from it, in lower case; one
   * with `*` behind it also stands for every word that begins so
   */
  constructor(phrases: Iterable<string>) {
    const words = new Set(englishWords)
    const beginnings = new Set<string>()
    for (const phrase of phrases) {
      for (const [word] of phrase.toLowerCase().matchAll(/[a-z]{2,}/g)) words.add(word)
      const beginning = /[a-z]{2,}(?=\*$)/i.exec(phrase)
      if (beginning !== null) beginnings.add(beginning[0].toLowerCase())
    }
    this.#tree = new LetterTree(words)
    this.#costs = new Uint8Array(this.#tree.size)
    this.#begins = new Uint8Array(this.#tree.size)
    let slots = 1024
    while (slots < words.size * 4) slots *= 2
    this.#hashes = new Int32Array(slots)
    let rank = 0
    for (const word of words) {
      rank++
      const node = this.#tree.endOf(word)
      if (beginnings.has(word)) this.#begins[node] = 1
      const isShortTerm = rank > englishWords.length && word.length < 4
      this.#costs[node] = Math.round(4 + 2 * Math.log(rank + 1)) + (isShortTerm ? costOfShortTerm : 0)
      let hash = startHash
      for (let i = 0; i < word.length; i++) hash = nextHash(hash, word.charCodeAt(i) - 96)
      let slot = (hash >>> 8) & (slots - 1)
      while (this.#hashes[slot] !== 0) slot = (slot + 1) & (slots - 1)
      this.#hashes[slot] = hash
    }
  }

  /** Whether the letters of `text` at [from, to) are one, a form of one, or a word that a phrase with `*` matches. */
  means(text: string, from: number, to: number): boolean {
    let node = 0
    for (let i = from; i < to; i++) {
      if (i - from >= shortestStem && this.#costs[node] !== 0 && endings.has(text.slice(i, to).toLowerCase()))
        return true
      node = this.step(node, text.charCodeAt(i))
      if (node === 0) return false
      if (this.#begins[node] !== 0) return true
    }
    return this.#costs[node] !== 0
  }

  /** The node after one more character, in either case, or 0 where no word goes on. 0 is also where words begin. */
  step(node: number, code: number): number {
    const letter = letterOf(code)
    return letter >= 0 ? this.#tree.step(node, letter) : 0
  }

  /** Cost of the word that ends at a node, or 0 where none ends. Rarer words cost more. */
  costOf(node: number): number {
    return this.#costs[node]!
  }

  has(word: string): boolean {
    return this.hasAt(word, 0, word.length)
  }

  /** Whether the letters of `text` at [from, to) are one. */
  hasAt(text: string, from: number, to: number): boolean {
    let hash = startHash
    for (let i = from; i < to; i++) {
      const letter = letterOf(text.charCodeAt(i))
      if (letter < 0) return false
      hash = nextHash(hash, letter + 1)
    }
    return this.#hasHash(hash)
  }

  /** The same when they are read from their end. */
  hasReversedAt(text: string, from: number, to: number): boolean {
    let hash = startHash
    for (let i = to - 1; i >= from; i--) {
      const letter = letterOf(text.charCodeAt(i))
      if (letter < 0) return false
      hash = nextHash(hash, letter + 1)
    }
    return this.#hasHash(hash)
  }

  /** One unknown word in a million has the hash of a known one. */
  #hasHash(hash: number): boolean {
    const hashes = this.#hashes
    const last = hashes.length - 1
    for (let slot = (hash >>> 8) & last; hashes[slot] !== 0; slot = (slot + 1) & last)
      if (hashes[slot] === hash) return true
    return false
  }

  /**
   * The parts of `stretches` in which unknown words outweigh known ones, each with its close surroundings.
   * @param stretches may reach beyond the text
   */
  unknownRuns(text: string, stretches: Stretches): number[] {
    const runs: number[] = []
    for (let s = 0; s < stretches.length; s += 2) {
      const end = Math.min(stretches[s + 1]!, text.length)
      let from = 0
      let to = 0
      let sum = 0
      let most = 0
      let spaced = 0
      for (let i = stretches[s]!; i <= end; i++) {
        const first = i
        let hash = startHash
        for (; i < text.length; i++) {
          const letter = letterOf(text.charCodeAt(i))
          if (letter < 0) break
          hash = nextHash(hash, letter + 1)
        }
        if (i - first < 2 && i < end) continue
        if (i - first > 1) {
          if (sum === 0) from = first
          // In text a space or a dash stands between two words; in code mostly something else.
          spaced += first === 0 || isSpace(text.charCodeAt(first - 1)) ? 1 : -2
          sum += this.#hasHash(hash) ? first - i : i - first
          if (sum > most) {
            most = sum
            to = i
          }
        }
        if (sum > 0 && i < end) continue
        if (most >= fewestUnknown && spaced >= 0) {
          addRun(runs, Math.max(stretches[s]!, from - margin), Math.min(end, to + margin))
        }
        sum = 0
        most = 0
        spaced = 0
      }
    }
    return runs
  }
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 45 || code === 95 || code === 34 || code === 39
}

function addRun(runs: number[], from: number, to: number): void {
  const last = runs.length - 1
  if (last > 0 && from <= runs[last]!) runs[last] = Math.max(runs[last]!, to)
  else runs.push(from, to)
}

/** 0 to 25 in either case, or -1. */
function letterOf(code: number): number {
  const letter = (code | 32) - 97
  return letter >= 0 && letter < letters && code < 128 ? letter : -1
}
