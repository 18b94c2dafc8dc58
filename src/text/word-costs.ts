/**
 * What words of many languages cost where words that run together are taken apart. Unlike `KnownWords`, which tells
 * language from scrambled letters by the commonest words of English, it holds nearly every word that people write, rare
 * ones at a high cost.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { nextHash, startHash } from './word-hash.js'

/** UTF-16 units; longer words are names of chemicals and runs of words themselves. */
export const longestKnownWord = 24

/** Cost of a word by its share among all words, 0 to 1: twice the negative logarithm, a whole number from 1 to 255. */
export function costOfShare(share: number): number {
  return Math.min(255, Math.max(1, Math.round(-2 * Math.log(share))))
}

export class WordCosts {
  /** Hashes of the words by open addressing, 0 in a free slot. A tree of so many words would take five times the memory. */
  readonly #hashes: Int32Array
  readonly #costs: Uint8Array
  readonly #mask: number

  /**
   * @param file lines of a cost and its words, in lower case; lines that begin with `#` are comments
   * @throws Error where a line is no such line, with its number
   */
  constructor(file: string) {
    const lines = file.split('\n').map((line, i) => {
      if (line === '' || line.startsWith('#')) return { cost: 0, words: [] }
      const [cost, ...words] = line.split(' ')
      if (!/^\d{1,3}$/.test(cost!) || Number(cost) < 1 || Number(cost) > 255 || words.length === 0)
        throw new Error(`line ${i + 1}: a cost from 1 to 255 and words, divided by single spaces, was expected`)
      return { cost: Number(cost), words }
    })
    let slots = 1024
    while (slots < 3 * lines.reduce((sum, { words }) => sum + words.length, 0)) slots *= 2
    this.#mask = slots - 1
    this.#hashes = new Int32Array(slots)
    this.#costs = new Uint8Array(slots)
    for (const { cost, words } of lines) {
      for (const word of words) {
        let hash = startHash
        for (let i = 0; i < word.length; i++) hash = nextHash(hash, word.charCodeAt(i))
        const slot = this.#slotOf(hash)
        if (this.#hashes[slot] !== 0) continue
        this.#hashes[slot] = hash
        this.#costs[slot] = cost
      }
    }
  }

  /** @param hash built by `nextHash` from UTF-16 units in lower case. @returns the word's cost; 0 where it is none */
  of(hash: number): number {
    const slot = this.#slotOf(hash)
    return this.#hashes[slot] === 0 ? 0 : this.#costs[slot]!
  }

  /** The slot that holds a hash, or the free one where it would be. */
  #slotOf(hash: number): number {
    let slot = (hash ^ (hash >>> 15)) & this.#mask
    while (this.#hashes[slot] !== 0 && this.#hashes[slot] !== hash) slot = (slot + 1) & this.#mask
    return slot
  }
}

const shippedFile = fileURLToPath(new URL('../../config/models/words.txt', import.meta.url))

let shipped: WordCosts | undefined

/**
 * The words that ship, read once in each thread: 20 to 50 ms, while a constitution compiles and before any request.
 * @throws Error where the file is missing or damaged, with its path
 */
export function shippedWordCosts(): WordCosts {
  if (shipped === undefined) {
    try {
      shipped = new WordCosts(readFileSync(shippedFile, 'utf8'))
    } catch (cause) {
      throw new Error(`${shippedFile}: ${(cause as Error).message}`, { cause })
    }
  }
  return shipped
}
