/**
 * What a word and its runs of letters add in a linear model is one constant row. The rows of words that were met are kept,
 * so that a known word costs one addition: bounded, and exact, since a kept row is used only where every letter agrees.
 */
import { longestWord, mostFeatures, wordFeatures } from './features.js'
import { UNKNOWN, WIDTH } from './lanes.js'
import type { Model } from './model.js'

/** Words whose rows are kept, in sets of two: a new one takes the place of the older of its set. */
const places = 1 << 15

/** A row of sixteen sums is eight numbers: each holds two sums of 26 bits, `high · 2^26 + low`, which additions keep exact. */
export const PAIRS = WIDTH / 2
export const SHIFT = 67_108_864
/** What one word adds is held within this, so that the sums of 4,096 words and their pairs fit 26 bits. */
const most = 7900

export class WordRows {
  readonly rows = new Float64Array(places * PAIRS)
  readonly #model: Pick<Model, 'wordTable' | 'words'>
  readonly #hash = new Int32Array(places)
  /** Plus one; 0 for an empty place. */
  readonly #length = new Uint8Array(places)
  readonly #letters = new Uint16Array(places * longestWord)
  readonly #features = new Int32Array(mostFeatures)
  readonly #sums = new Int32Array(WIDTH)

  constructor(model: Pick<Model, 'wordTable' | 'words'>) {
    this.#model = model
  }

  /** @returns where in `rows` the row of a word begins */
  find(units: Uint16Array, from: number, to: number, hash: number): number {
    const place = (hash ^ (hash >>> 15)) & (places - 1)
    const hashes = this.#hash
    if (hashes[place] === hash && this.#is(units, from, to, place)) return place * PAIRS
    const other = place ^ 1
    if (hashes[other] === hash && this.#is(units, from, to, other)) return other * PAIRS
    return this.#make(units, from, to, hash, place)
  }

  /** Equal hashes are not taken for equal words. */
  #is(units: Uint16Array, from: number, to: number, place: number): boolean {
    const length = from < 0 ? 0 : to - from
    if (this.#length[place] !== length + 1) return false
    const letters = this.#letters
    const at = place * longestWord
    for (let i = 0; i < length; i++) if (letters[at + i] !== units[from + i]) return false
    return true
  }

  #make(units: Uint16Array, from: number, to: number, hash: number, place: number): number {
    // The word that was here moves over and stays until the next one.
    if (this.#length[place] !== 0) this.#move(place, place ^ 1)
    const { wordTable, words } = this.#model
    const sums = this.#sums
    const features = this.#features
    sums.fill(0)
    const count = wordFeatures(units, from, to, hash, features)
    for (let f = 0; f < count; f++) {
      const row = wordTable.find(features[f]!)
      if (row < 0) continue
      const at = row * WIDTH
      for (let lane = 0; lane < WIDTH; lane++) sums[lane]! += words[at + lane]!
    }
    sums[UNKNOWN] = wordTable.find(features[0]!) < 0 ? 1 : 0
    const at = place * PAIRS
    for (let i = 0; i < PAIRS; i++) this.rows[at + i] = held(sums[i * 2]!) + held(sums[i * 2 + 1]!) * SHIFT
    const length = from < 0 ? 0 : to - from
    this.#hash[place] = hash
    this.#length[place] = length + 1
    for (let i = 0; i < length; i++) this.#letters[place * longestWord + i] = units[from + i]!
    return at
  }

  #move(from: number, to: number): void {
    this.#hash[to] = this.#hash[from]!
    this.#length[to] = this.#length[from]!
    this.rows.copyWithin(to * PAIRS, from * PAIRS, (from + 1) * PAIRS)
    this.#letters.copyWithin(to * longestWord, from * longestWord, (from + 1) * longestWord)
  }
}

function held(sum: number): number {
  return sum > most ? most : sum < -most ? -most : sum
}
