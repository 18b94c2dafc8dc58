/**
 * A cache of word rows: in a linear model a word and its runs of letters add one constant row, so a cached word costs
 * one addition. The cache is bounded, and exact, since a row is used only where every letter agrees.
 */
import { longestWord, mostFeatures, wordFeatures } from './features.js'
import { UNKNOWN, WIDTH } from './lanes.js'
import { PackedRows } from './packed-rows.js'
import type { FeatureTable } from './table.js'

/** Words whose rows are kept, in sets of two: a new one takes the place of the older of its set. */
const places = 1 << 16

/** Two lanes of a row share one number, sixteen bits each, offset by `LIFT` to be unsigned. */
export const PAIRS = WIDTH / 2
/** Bound on a word's contribution, so that the sums of 4,096 words and their pairs fit 26 bits. */
const most = 7900
export const LIFT = 8192
/** Most rows that may be added before a lane overflows into the next: 4 · (8192 + 7900) < 2^16. */
export const mostAdded = 4

/**
 * An entry fits one cache line: its row, its hash, its length plus one (0 for an empty place) and its first letters, 16
 * bits each. The further letters of long words are stored apart.
 */
const bytes = 64
const hashAt = PAIRS * 4
const lengthAt = hashAt + 4
const lettersAt = lengthAt + 2
const letters = (bytes - lettersAt) / 2

export class WordRows {
  readonly #places = new ArrayBuffer(places * bytes)
  /** Rows, `PAIRS` numbers each, at what `find` returns; and the hashes behind them. */
  readonly rows = new Int32Array(this.#places)
  /** The lengths and the first letters. */
  readonly #units = new Uint16Array(this.#places)
  readonly #moreLetters = new Uint16Array(places * (longestWord - letters))
  /** Without meaning: keeps the engine from removing the reads. */
  fetched = 0
  readonly #table: FeatureTable
  readonly #weights: PackedRows
  readonly #features = new Int32Array(mostFeatures)
  readonly #sums = new Int32Array(WIDTH)

  /** @param weights by row of the table and lane, as of `Model` */
  constructor(table: FeatureTable, weights: Int8Array) {
    this.#table = table
    this.#weights = new PackedRows(weights)
  }

  /**
   * Prefetches the possible rows of words: later lookups depend on each other, but the processor can fetch these in
   * parallel. A place may cover two cache lines.
   * @param hashes of the words [from, to)
   */
  fetch(hashes: Int32Array, from: number, to: number): void {
    const { rows } = this
    let read = 0
    for (let i = from; i < to; i++) {
      const block = placeOf(hashes[i]!) * (bytes / 4)
      read ^= rows[block]! ^ rows[block + bytes / 4 - 1]!
    }
    this.fetched = read
  }

  /** @returns where in `rows` the row of a word begins */
  find(units: Uint16Array, from: number, to: number, hash: number): number {
    const place = placeOf(hash)
    if (this.#is(units, from, to, hash, place)) return place * (bytes / 4)
    const other = place ^ 1
    if (this.#is(units, from, to, hash, other)) return other * (bytes / 4)
    return this.#make(units, from, to, hash, place)
  }

  /** Compares the letters, since equal hashes do not prove equal words. */
  #is(units: Uint16Array, from: number, to: number, hash: number, place: number): boolean {
    if (this.rows[place * (bytes / 4) + hashAt / 4] !== hash) return false
    const length = from < 0 ? 0 : to - from
    const own = this.#units
    if (own[place * (bytes / 2) + lengthAt / 2] !== length + 1) return false
    const first = place * (bytes / 2) + lettersAt / 2
    const here = length < letters ? length : letters
    for (let i = 0; i < here; i++) if (own[first + i] !== units[from + i]) return false
    const more = place * (longestWord - letters) - letters
    for (let i = letters; i < length; i++) if (this.#moreLetters[more + i] !== units[from + i]) return false
    return true
  }

  #make(units: Uint16Array, from: number, to: number, hash: number, place: number): number {
    const block = place * (bytes / 4)
    // The word that was here moves over and stays until the next one.
    const more = place * (longestWord - letters)
    this.rows.copyWithin((place ^ 1) * (bytes / 4), block, block + bytes / 4)
    this.#moreLetters.copyWithin((place ^ 1) * (longestWord - letters), more, more + longestWord - letters)
    this.#sumUp(block, wordFeatures(units, from, to, hash, this.#features))
    const length = from < 0 ? 0 : to - from
    this.rows[block + hashAt / 4] = hash
    this.#units[block * 2 + lengthAt / 2] = length + 1
    for (let i = 0; i < length; i++) {
      if (i < letters) this.#units[block * 2 + lettersAt / 2 + i] = units[from + i]!
      else this.#moreLetters[more + i - letters] = units[from + i]!
    }
    return block
  }

  /** Writes the row of a word of so many features, of which the first is the word itself. */
  #sumUp(block: number, count: number): void {
    const features = this.#features
    const sums = this.#sums.fill(0)
    this.#table.findAll(features, count)
    this.#weights.addTo(sums, 0, features, count)
    sums[UNKNOWN] = features[0] === this.#table.none ? 1 : 0
    for (let i = 0; i < PAIRS; i++) {
      this.rows[block + i] = (held(sums[2 * i]!) + LIFT) | ((held(sums[2 * i + 1]!) + LIFT) << 16)
    }
  }

  /** What a row adds to one lane. */
  lane(row: number, lane: number): number {
    return ((this.rows[row + (lane >> 1)]! >>> ((lane & 1) * 16)) & 0xffff) - LIFT
  }
}

function placeOf(hash: number): number {
  return (hash ^ (hash >>> 15)) & (places - 1)
}

function held(sum: number): number {
  return sum > most ? most : sum < -most ? -most : sum
}
