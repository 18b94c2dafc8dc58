/**
 * Packed rows of weights: unsigned bytes, four to a number, so that a row of sixteen lanes is added in eight additions.
 * Two of the bytes of a number are added at a time, and each sum has sixteen bits.
 */
import { WIDTH } from './lanes.js'

/** Numbers in a row. */
const size = WIDTH / 4
/** Every other byte of a number. */
const EVEN = 0x00ff00ff
/** Offset of an unsigned byte above its weight. */
const BIAS = 128
/** Most rows that may be added, so that a sum stays below 2^16. */
export const mostAdded = 257

export class PackedRows {
  readonly #rows: Int32Array
  /** Without meaning: keeps the engine from removing the reads. */
  fetched = 0

  /** An extra last row adds nothing, for unknown features: `FeatureTable.none`. */
  constructor(weights: Int8Array) {
    this.#rows = packed(weights)
  }

  /**
   * Adds rows to the sums of the lanes, which begin at `at`.
   * @param rows numbers of rows, of which the first `count`, at most `mostAdded`, are added
   */
  addTo(sums: Int32Array, at: number, rows: Int32Array, count: number): void {
    const weights = this.#rows
    // All of them are fetched at a time: below, each waits for the one before it.
    let read = 0
    for (let i = 0; i < count; i++) read ^= weights[(rows[i]! * size) | 0]!
    this.fetched = read
    // The sums of two lanes each.
    let [a, b, c, d, e, f, g, h] = [0, 0, 0, 0, 0, 0, 0, 0]
    for (let i = 0; i < count; i++) {
      const row = (rows[i]! * size) | 0
      const first = weights[row]!
      const second = weights[row + 1]!
      const third = weights[row + 2]!
      const fourth = weights[row + 3]!
      a = (a + (first & EVEN)) | 0
      b = (b + ((first >>> 8) & EVEN)) | 0
      c = (c + (second & EVEN)) | 0
      d = (d + ((second >>> 8) & EVEN)) | 0
      e = (e + (third & EVEN)) | 0
      f = (f + ((third >>> 8) & EVEN)) | 0
      g = (g + (fourth & EVEN)) | 0
      h = (h + ((fourth >>> 8) & EVEN)) | 0
    }
    const off = count * BIAS
    addFour(sums, at, a, b, off)
    addFour(sums, at + 4, c, d, off)
    addFour(sums, at + 8, e, f, off)
    addFour(sums, at + 12, g, h, off)
  }

  /** What a row adds to one lane. */
  lane(row: number, lane: number): number {
    return ((this.#rows[row * size + (lane >> 2)]! >>> ((lane & 3) * 8)) & 255) - BIAS
  }
}

/** Plain loops: a callback for each took a third of a second. */
function packed(weights: Int8Array): Int32Array {
  const rows = new Int32Array(weights.length / 4 + size)
  const none = rows.length - size
  for (let i = 0, at = 0; i < none; i++, at += 4) {
    rows[i] =
      (weights[at]! + BIAS) |
      ((weights[at + 1]! + BIAS) << 8) |
      ((weights[at + 2]! + BIAS) << 16) |
      ((weights[at + 3]! + BIAS) << 24)
  }
  return rows.fill(BIAS * 0x01010101, none)
}

/** Four lanes: `even` holds the sums of the first and the third, `odd` those of the second and the fourth. */
function addFour(sums: Int32Array, at: number, even: number, odd: number, off: number): void {
  sums[at]! += (even & 0xffff) - off
  sums[at + 1]! += (odd & 0xffff) - off
  sums[at + 2]! += (even >>> 16) - off
  sums[at + 3]! += (odd >>> 16) - off
}
