/**
 * Whether a word looks like one of the commonest of English, by its first letter, its last and its length: two in three
 * words of prose do, and one in twenty words whose letters were swapped.
 */
import { englishWords } from './english.js'

/** More of them would cover swapped words faster than English ones. */
const commonest = 250
const longest = 7

/** Per first and last letter one bit for each length. */
const shapes = new Uint8Array(1 << 10)
for (const word of englishWords.slice(0, commonest)) {
  if (word.length > longest) continue
  shapes[((word.charCodeAt(0) & 31) << 5) | (word.charCodeAt(word.length - 1) & 31)]! |= 1 << word.length
}

/** @returns 1 or 0, for a word of ASCII letters */
export function commonShape(units: Uint16Array, from: number, to: number): number {
  return (shapes[((units[from]! & 31) << 5) | (units[to - 1]! & 31)]! >> (to - from)) & 1
}
