/** A filter over the first three letters of words: with which of them a phrase may begin. */
import { SPACE } from './characters.js'

/** Of letters that share a key some word is looked at in vain. */
function keyOf(first: number, second: number, third: number): number {
  return ((first & 31) << 10) | ((second & 31) << 5) | (second === SPACE ? 0 : third & 31)
}

export function begins(beginnings: Uint32Array, first: number, second: number, third: number): boolean {
  const key = keyOf(first, second, third)
  return ((beginnings[key >> 5]! >> (key & 31)) & 1) !== 0
}

/**
 * One bit per `keyOf` three letters.
 * @param words phrases with the spaces at their edges
 */
export function beginningsOf(words: readonly string[]): Uint32Array {
  const beginnings = new Uint32Array(1 << 10)
  for (const word of words) {
    // The missing letters of a short word with any ending are any letters.
    for (let i = 0; i < (word.length === 2 ? 32 : 1); i++) {
      for (let j = 0; j < (word.length <= 3 && !word.endsWith(' ') ? 32 : 1); j++) {
        const second = word.length > 2 ? word.charCodeAt(2) : 64 + i
        const key = keyOf(word.charCodeAt(1), second, word.length > 3 ? word.charCodeAt(3) : j)
        beginnings[key >> 5]! |= 1 << (key & 31)
      }
    }
  }
  return beginnings
}
