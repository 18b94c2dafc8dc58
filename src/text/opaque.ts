/**
 * Finds runs that say nothing as written: pictures, keys, hashes, compressed files, or text that another reading decodes. To
 * a reader of words they are noise, and a picture of 1 kB in a page would cost as many windows as a long text.
 */
import { letterOf } from './leet.js'
import { fitOf, gainOf } from './letter-pairs.js'
import type { Stretches } from './places.js'

/** Units of base64 that are looked at together; a line of a wrapped run (RFC 2045, RFC 7468) holds one. */
const block = 60
/** Of random base64, 60 characters have 24 capitals, 24 small letters and 9 digits, and change between them 38 times. */
const fewest = { capitals: 10, small: 10, digits: 2, changes: 24 }
/**
 * How letters follow one another at random, digits read as the letters that they stand for, in hundredths of a nat a
 * letter: at most so well (`fitOf`), and hardly better rotated or turned round (`gainOf`). The first block of a run, and
 * the further ones. Of random blocks 81 in 100 are such a first one and all but 1 in 1,000 a further one; of English
 * without spaces, in leet and random capitals, 1 in 2,000 and 1 in 70, and in ROT13 with digits in it 1 in 50 and 3 in 10.
 */
const first = { fit: -375, gain: 15 }
const further = { fit: -345, gain: 45 }
/** Base64 of fewer units may be a hash; by chance it is a number with a check, or a key. */
const shortestFile = 200
/** Hexadecimal, with hyphens as in a UUID; words of six letters of the alphabet, with digits between them, say nothing. */
const hexadecimal = /^(?=(?:[^a-f]*[a-f]){2})(?=(?:\D*\d){2})[\da-f-]+$/i
const shortestHex = 12

/**
 * Base64 alone, as long as files are.
 * @param tokens stretches where it may stand: `SignPlaces.tokens` @returns the runs, from left to right
 */
export function opaqueRuns(text: string, tokens: Stretches): Stretches {
  const runs = noiseRuns(text, tokens, false)
  return runs.filter((_, i) => runs[i | 1]! - runs[i & ~1]! >= shortestFile)
}

/**
 * Hashes too, of both alphabets.
 * @param tokens as of `opaqueRuns` @returns the runs, from left to right
 */
export function noiseRuns(text: string, tokens: Stretches, isHexNoise = true): Stretches {
  const runs: number[] = []
  for (let t = 0; t < tokens.length; t += 2) {
    const end = tokens[t + 1]!
    let from = tokens[t]!
    // The last line of a wrapped run is shorter than a block.
    if (end - from < block && runs.length > 0 && isLineEnd(text, runs.at(-1)!, from)) {
      runs[runs.length - 1] = end
      continue
    }
    if (isHexNoise && end - from >= shortestHex && hexadecimal.test(text.slice(from, end))) {
      runs.push(from, end)
      continue
    }
    while (end - from >= block) {
      // The last block takes the rest.
      const to = end - from < 2 * block ? end : from + block
      // A wrapped run goes on after the end of a line.
      const goesOn = runs.length > 0 && (runs.at(-1) === from || isLineEnd(text, runs.at(-1)!, from))
      if (isRandom(text, from, to, goesOn ? further : first)) {
        if (goesOn) runs[runs.length - 1] = to
        else runs.push(from, to)
      }
      from = to
    }
  }
  return runs
}

function isLineEnd(text: string, from: number, to: number): boolean {
  return to - from <= 2 && text.charCodeAt(to - 1) === 10
}

const SMALL = 1
const CAPITAL = 2
const DIGIT = 3

function kindOf(code: number): number {
  if (code >= 97 && code <= 122) return SMALL
  if (code >= 65 && code <= 90) return CAPITAL
  return code >= 48 && code <= 57 ? DIGIT : 0
}

function isRandom(text: string, from: number, to: number, most: typeof first): boolean {
  const counts = [0, 0, 0, 0]
  let changes = 0
  let before = kindOf(text.charCodeAt(from))
  for (let i = from; i < to; i++) {
    const kind = kindOf(text.charCodeAt(i))
    counts[kind]!++
    if (kind !== before) changes++
    before = kind
  }
  if (counts[SMALL]! < fewest.small || counts[CAPITAL]! < fewest.capitals || counts[DIGIT]! < fewest.digits)
    return false
  if (changes * block < fewest.changes * (to - from)) return false
  const letters = text.slice(from, to).replace(/[0-9]/g, (digit) => letterOf[digit] ?? 'l')
  const { length } = letters
  return (
    fitOf(letters, 0, length) < most.fit &&
    gainOf(letters, 0, length, 'rotated') < most.gain &&
    gainOf(letters, 0, length, 'turned') < most.gain
  )
}
