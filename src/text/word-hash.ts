/**
 * Words are known by two hashes of 32 bits each: multilinear ones (Dietzfelbinger 1996) over the first eight units, two at
 * a time, without a loop whose end nothing foretells, and FNV-1a over the rest. Two words are never equal in both by
 * accident; who makes them so on purpose only has more found in his own text.
 */

/** Units read at once. */
const unitsAtOnce = 8
/** A word is read this many units past its start, whether it ends earlier or not. */
export const wordReach = unitsAtOnce

/** By the length of a word, at most eight: what counts of each two units. */
const masks = Int32Array.from({ length: (unitsAtOnce + 1) * 4 }, (_, i) => {
  const units = Math.trunc(i / 4) - 2 * (i % 4)
  return units >= 2 ? -1 : units === 1 ? 0xffff : 0
})

/** @param view bytes of folded units in which the word stands at [from, to) */
export function firstHash(view: DataView, from: number, to: number): number {
  const length = to - from
  const mask = length < unitsAtOnce ? length * 4 : unitsAtOnce * 4
  const at = from * 2
  const hash =
    Math.imul(view.getInt32(at, true) & masks[mask]!, 0x9e3779b1) ^
    Math.imul(view.getInt32(at + 4, true) & masks[mask + 1]!, 0x7feb352d) ^
    Math.imul(view.getInt32(at + 8, true) & masks[mask + 2]!, 0x58f38ded) ^
    Math.imul(view.getInt32(at + 12, true) & masks[mask + 3]!, 0x2c1b3c6d)
  return mixed(length > unitsAtOnce ? rest(hash, view, from + unitsAtOnce, to) : hash)
}

export function secondHash(view: DataView, from: number, to: number): number {
  const length = to - from
  const mask = length < unitsAtOnce ? length * 4 : unitsAtOnce * 4
  const at = from * 2
  const hash =
    Math.imul(view.getInt32(at, true) & masks[mask]!, 0x85ebca6b) ^
    Math.imul(view.getInt32(at + 4, true) & masks[mask + 1]!, 0xc2b2ae35) ^
    Math.imul(view.getInt32(at + 8, true) & masks[mask + 2]!, 0x27d4eb2f) ^
    Math.imul(view.getInt32(at + 12, true) & masks[mask + 3]!, 0x165667b1)
  return length > unitsAtOnce ? rest(hash, view, from + unitsAtOnce, to) : hash
}

function rest(hash: number, view: DataView, from: number, to: number): number {
  let after = hash
  for (let i = from; i < to; i++) after = Math.imul(after ^ view.getUint16(i * 2, true), 0x01000193)
  return after
}

/** The high bits choose the slot: all of the word must bear on them. */
function mixed(hash: number): number {
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
}

/** A word of a phrase as the folding would hold it. */
export function unitsOf(word: string): { units: Uint16Array; view: DataView; length: number } {
  const units = new Uint16Array(word.length + wordReach)
  for (let i = 0; i < word.length; i++) units[i] = word.charCodeAt(i)
  return { units, view: new DataView(units.buffer), length: word.length }
}

/** The hash of no letter, for those who read a word letter by letter and ask after each. */
export const startHash = 0x811c9dc5 | 0

/** One letter more (FNV-1a); never 0, which is a free slot. */
export function nextHash(hash: number, letter: number): number {
  return Math.imul(hash ^ letter, 0x01000193) | 1
}
