/** The rows of pairs of words as the scorer reads them: bytes without a sign, four to a number. */
import { WIDTH } from './lanes.js'

/** Words of 32 bits in a row. */
export const BYTES = WIDTH / 4

/** Bytes without a sign, four to a number, the first lowest. In loops: with a function for each, it took a third of a second. */
export function packed(pairs: Int8Array): Int32Array {
  const rows = new Int32Array(pairs.length / 4)
  for (let i = 0, at = 0; i < rows.length; i++, at += 4) {
    rows[i] =
      (pairs[at]! + 128) |
      ((pairs[at + 1]! + 128) << 8) |
      ((pairs[at + 2]! + 128) << 16) |
      ((pairs[at + 3]! + 128) << 24)
  }
  return rows
}

/** What a row adds to one lane. */
export function pairLane(rows: Int32Array, row: number, lane: number): number {
  return ((rows[row * BYTES + (lane >> 2)]! >>> ((lane & 3) * 8)) & 255) - 128
}
