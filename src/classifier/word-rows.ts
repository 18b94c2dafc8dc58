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

/**
 * What is kept of a word lies together, two lines of the processor's cache: its row, its letters (16 bits each, up to
 * `longestWord`), its hash, and its length plus one (0 for an empty place).
 */
const bytes = 128
const lettersAt = PAIRS * 8
const hashAt = lettersAt + longestWord * 2
const lengthAt = hashAt + 4

export class WordRows {
  readonly #places = new ArrayBuffer(places * bytes)
  readonly rows = new Float64Array(this.#places)
  readonly #letters = new Uint16Array(this.#places)
  readonly #numbers = new Int32Array(this.#places)
  readonly #model: Pick<Model, 'wordTable' | 'words'>
  readonly #features = new Int32Array(mostFeatures)
  readonly #sums = new Int32Array(WIDTH)

  constructor(model: Pick<Model, 'wordTable' | 'words'>) {
    this.#model = model
  }

  /** @returns where in `rows` the row of a word begins */
  find(units: Uint16Array, from: number, to: number, hash: number): number {
    const place = (hash ^ (hash >>> 15)) & (places - 1)
    if (this.#is(units, from, to, hash, place)) return place * (bytes / 8)
    const other = place ^ 1
    if (this.#is(units, from, to, hash, other)) return other * (bytes / 8)
    return this.#make(units, from, to, hash, place)
  }

  /** Equal hashes are not taken for equal words. */
  #is(units: Uint16Array, from: number, to: number, hash: number, place: number): boolean {
    const numbers = this.#numbers
    const number = place * (bytes / 4)
    if (numbers[number + hashAt / 4] !== hash) return false
    const length = from < 0 ? 0 : to - from
    if (numbers[number + lengthAt / 4] !== length + 1) return false
    const letters = this.#letters
    const letter = place * (bytes / 2) + lettersAt / 2
    for (let i = 0; i < length; i++) if (letters[letter + i] !== units[from + i]) return false
    return true
  }

  #make(units: Uint16Array, from: number, to: number, hash: number, place: number): number {
    const block = place * (bytes / 8)
    const number = place * (bytes / 4)
    // The word that was here moves over and stays until the next one.
    if (this.#numbers[number + lengthAt / 4] !== 0)
      this.rows.copyWithin((place ^ 1) * (bytes / 8), block, block + bytes / 8)
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
    for (let i = 0; i < PAIRS; i++) this.rows[block + i] = held(sums[i * 2]!) + held(sums[i * 2 + 1]!) * SHIFT
    const length = from < 0 ? 0 : to - from
    this.#numbers[number + hashAt / 4] = hash
    this.#numbers[number + lengthAt / 4] = length + 1
    const letter = place * (bytes / 2) + lettersAt / 2
    for (let i = 0; i < length; i++) this.#letters[letter + i] = units[from + i]!
    return block
  }
}

function held(sum: number): number {
  return sum > most ? most : sum < -most ? -most : sum
}
