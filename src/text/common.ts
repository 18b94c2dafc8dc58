/**
 * Whether a word looks like one of the commonest of English, by its first letter, its last and its length: three in four
 * words of prose do, and one in ten words whose letters were swapped. Those that end in y are left out but for the shortest,
 * since all of pig Latin ends so.
 */
import { englishWords } from './english.js'

/** More of them would cover swapped words faster than English ones. */
const commonest = 500
const longest = 8

/** Per first and last letter one bit for each length. */
const shapes = new Uint16Array(1 << 10)
for (const word of englishWords.slice(0, commonest)) {
  if (word.length > longest || (word.length > 2 && word.endsWith('y'))) continue
  shapes[((word.charCodeAt(0) & 31) << 5) | (word.charCodeAt(word.length - 1) & 31)]! |= 1 << word.length
}

/** @returns 1 or 0, for a word of ASCII letters */
export function commonShape(units: Uint16Array, from: number, to: number): number {
  return (shapes[((units[from]! & 31) << 5) | (units[to - 1]! & 31)]! >> (to - from)) & 1
}
