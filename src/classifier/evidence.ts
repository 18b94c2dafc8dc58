/**
 * Finds the start of the evidence for a window's score. The model is additive: each word has a known contribution.
 * Summed from left to right, less a `drift` for each word and never below zero (a CUSUM, Page 1954), the sum is above
 * zero exactly where some stretch that ends there adds more than the drift per word: a run of evidence, which begins
 * where the sum last left zero. With the drift of a confidence every window that reaches it ends in a run, whatever its
 * length: words before the run add nothing to it. A run's beginning depends only on the words before it, so that later
 * words cannot move it.
 */
import type { Folder } from '../text/fold.js'
import { pairFeature, START, skipFeature, Words } from './features.js'
import { UNKNOWN, WIDTH } from './lanes.js'
import type { Model } from './model.js'
import type { PackedRows } from './packed-rows.js'
import { classes, longest, mostWords } from './windows.js'
import type { WordRows } from './word-rows.js'

/** Words and pairs of words as the scorer keeps them. */
export interface Rows {
  readonly model: Pick<Model, 'pairTable' | 'unit' | 'bias' | 'slope' | 'offset'>
  readonly wordRows: WordRows
  readonly pairRows: PackedRows
}

/** By lane the drift, in units of the lane; infinite where nothing is evidence. */
export type Drifts = Float64Array

/** The pairs that a word can end: with the one before, with the one before that, and both once more where a passage opens. */
const mostPairs = 4

export class Evidence {
  readonly #rows: Rows
  readonly #words = new Words()
  /** The contribution of the current word: its own row, and the rows of its pairs. */
  #row = 0
  #pairs = 0
  readonly #pair = new Int32Array(mostPairs)

  constructor(rows: Rows) {
    this.#rows = rows
  }

  /** @param least by lane, the confidence from which windows count; 0 where none does */
  drifts(least: Float64Array): Drifts {
    const { unit, bias, slope, offset } = this.#rows.model
    const drifts = new Float64Array(WIDTH).fill(Number.POSITIVE_INFINITY)
    for (let lane = 0; lane < UNKNOWN; lane++) {
      const confidence = least[lane]!
      if (confidence === 0) continue
      const score = (Math.log(confidence / (1 - confidence)) - offset[lane]!) / slope[lane]!
      for (let kind = 0; kind < classes; kind++) {
        const needed = score - bias[kind * WIDTH + lane]!
        // A score that needs no evidence is reached soonest with one word.
        const each = needed / (unit[lane]! * Math.sqrt(needed < 0 ? 1 : mostWords[kind]!))
        // Whole numbers add up exactly, in whichever order.
        drifts[lane] = Math.min(drifts[lane]!, Math.floor(each))
      }
    }
    return drifts
  }

  /**
   * The start of the runs that contain the last word of a text.
   * @returns UTF-16 units from the start of the text; its length where there is none
   */
  open(folded: Folder, text: string, drifts: Drifts): number {
    const words = this.#words.read(folded, text)
    const used: number[] = []
    for (let lane = 0; lane < UNKNOWN; lane++) if (drifts[lane]! < Number.POSITIVE_INFINITY) used.push(lane)
    const sums = new Float64Array(used.length)
    const began = new Int32Array(used.length)
    let next = 0
    for (let i = 0; i < words.count; i++) {
      next = this.#read(folded.units, words, i, next)
      for (let k = 0; k < used.length; k++) {
        const lane = used[k]!
        const sum = sums[k]! + this.#add(lane) - drifts[lane]!
        if (sums[k] === 0) began[k] = i
        sums[k] = sum > 0 ? sum : 0
      }
    }
    let first = words.count
    for (let k = 0; k < used.length; k++) if (sums[k]! > 0) first = Math.min(first, began[k]!)
    return first === words.count ? text.length : words.span(folded, text, first, first + 1).start
  }

  /**
   * The first word of the run that a window ends in, at most a longest window before its end.
   * @param words of the text that was folded
   * @returns `from` where there is no run
   */
  begin(folded: Folder, words: Words, lane: number, drift: number, from: number, after: number): number {
    const { breaks, count } = words.passages
    let sum = 0
    let most = 0
    let first = from
    let next = 0
    while (next < count && breaks[next]! >> 2 < after) next++
    for (let i = after - 1; i >= 0 && i >= after - longest; i--) {
      while (next > 0 && breaks[next - 1]! >> 2 >= i - 1) next--
      this.#read(folded.units, words, i, next)
      sum += this.#add(lane) - drift
      if (sum <= most) continue
      most = sum
      first = i
    }
    return first
  }

  /** @param next the first break of a passage that is not before the word before word `i`; @returns the same for the next word */
  #read(units: Uint16Array, { hash, from, to, passages }: Words, i: number, next: number): number {
    const own = hash[i]!
    this.#row = this.#rows.wordRows.find(units, from[i]!, to[i]!, own)
    this.#pairs = 0
    this.#look(pairFeature(i > 0 ? hash[i - 1]! : START, own))
    if (i > 0) this.#look(skipFeature(i > 1 ? hash[i - 2]! : START, own))
    const { breaks, count } = passages
    let at = next
    while (at < count && breaks[at]! >> 2 < i - 1) at++
    // A passage opens as a text does.
    for (let each = at; each < count && breaks[each]! >> 2 <= i; each++) {
      this.#look(breaks[each]! >> 2 === i ? pairFeature(START, own) : skipFeature(START, own))
    }
    return at
  }

  #look(feature: number): void {
    const row = this.#rows.model.pairTable.find(feature)
    if (row >= 0 && this.#pairs < mostPairs) this.#pair[this.#pairs++] = row
  }

  /** The contribution of the last word to a lane. */
  #add(lane: number): number {
    const { wordRows, pairRows } = this.#rows
    let sum = wordRows.lane(this.#row, lane)
    for (let i = 0; i < this.#pairs; i++) sum += pairRows.lane(this.#pair[i]!, lane)
    return sum
  }
}
