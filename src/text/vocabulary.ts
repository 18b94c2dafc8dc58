/**
 * The words that phrases are made of, each with its number, and the beginnings of words (`bomb*`). A word of the
 * vocabulary is found by its hash, with the beginnings that it has noted beside it; only another word is read letter by
 * letter, for its beginnings.
 */

import { BeginningTrie } from './beginnings.js'
import { firstHash, secondHash, unitsOf } from './word-hash.js'

/** Free slots have this for the number of their word. */
const free = -1
const fieldsPerSlot = 4

export class Vocabulary {
  /** The numbers of the last word looked up: its own first, where it has one. */
  readonly found: Int32Array
  readonly #trie: BeginningTrie
  /** Open addressing; per slot both hashes, the word's number, and where in `#more` the numbers of its beginnings stand, or -1. */
  readonly #slots: Int32Array
  readonly #shift: number
  /** Runs of numbers, each ended by -1. */
  readonly #more: Int32Array

  constructor(words: ReadonlyMap<string, number>, beginnings: ReadonlyMap<string, number>) {
    this.#trie = new BeginningTrie(beginnings)
    this.found = new Int32Array(this.#trie.longest + 2)
    let bits = 4
    while (1 << bits < words.size * 2) bits++
    this.#shift = 32 - bits
    this.#slots = new Int32Array(fieldsPerSlot << bits).fill(free)
    const more: number[] = []
    for (const [word, number] of words) {
      const { units, length } = unitsOf(word)
      const count = this.#trie.read(units, 0, length, this.found, 0)
      this.#add(word, number, count === 0 ? -1 : more.length)
      if (count > 0) more.push(...this.found.subarray(0, count), -1)
    }
    this.#more = Int32Array.from(more)
  }

  #add(word: string, number: number, more: number): void {
    const { view, length } = unitsOf(word)
    const first = firstHash(view, 0, length)
    const slots = this.#slots
    let at = (first >>> this.#shift) * fieldsPerSlot
    while (slots[at + 2] !== free) at = (at + fieldsPerSlot) % slots.length
    slots.set([first, secondHash(view, 0, length), number, more], at)
  }

  /**
   * @param view the bytes of `units`, the folded text in which the word stands at [from, to)
   * @returns how many numbers it has in `found`
   */
  find(view: DataView, units: Uint16Array, from: number, to: number): number {
    const slots = this.#slots
    const { found } = this
    const first = firstHash(view, from, to)
    const second = secondHash(view, from, to)
    for (let at = (first >>> this.#shift) * fieldsPerSlot; ; ) {
      const number = slots[at + 2]!
      if (number === free) return this.#trie.read(units, from, to, found, 0)
      if (slots[at] === first && slots[at + 1] === second) {
        found[0] = number
        let count = 1
        let more = slots[at + 3]!
        if (more >= 0) for (; this.#more[more]! >= 0; more++) found[count++] = this.#more[more]!
        return count
      }
      at += fieldsPerSlot
      if (at === slots.length) at = 0
    }
  }
}
