/**
 * ROT13, told by its letters: English uses E, T, A, O, N far more than R, G, N, B, A, which is what they become. Summed
 * over a stretch, the logarithm of how much likelier each letter is as ROT13 than as English crosses a bound within a few
 * words of one and stays near zero in the other (a CUSUM test), at the cost of one addition a letter.
 */
import type { KnownWords } from './known-words.js'
import { gainOf } from './letter-pairs.js'
import { Edits } from './rewrite.js'

/** Frequencies of a to z in English, in tenths of a per mille (Lewand, Cryptological Mathematics, 2000). */
export const frequency: readonly number[] = [
  817, 149, 278, 425, 1270, 223, 202, 609, 697, 15, 77, 403, 241, 675, 751, 193, 10, 599, 633, 906, 276, 98, 236, 15,
  197, 7
]

/** Hundredths of a nat per character code: how much this letter speaks for ROT13. Other characters say nothing. */
export const weights = new Int16Array(128)
for (let letter = 0; letter < 26; letter++) {
  const weight = Math.round(100 * Math.log(frequency[(letter + 13) % 26]! / frequency[letter]!))
  // One letter decides little, however rare: a word of z's is no sentence.
  weights[97 + letter] = Math.max(-250, Math.min(250, weight))
  weights[65 + letter] = weights[97 + letter]!
}

/** Evidence that suffices. */
export const likely = 800

const common = new Set(
  `the of and to in is you that it he was for on are as with his they at be this have from or had by but what all were
  when we there can an your which their said if do will each how make me my kill tell give now not who get him her out
  use about write`.split(/\s+/)
)

export function rotatedEdits(text: string, known: KnownWords): Edits {
  const edits = new Edits()
  let sum = 0
  let from = 0
  let best = 0
  let end = 0
  const close = () => {
    const done = edits.size > 0 ? edits.to[edits.size - 1]! : 0
    if (best >= likely && end > done) addStretch(text, Math.max(from, done), end, done, known, edits)
    sum = 0
    best = 0
  }
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > 127) continue
    const weight = weights[code]!
    if (weight === 0) continue
    if (sum === 0 && weight > 0) {
      from = i
      end = i
    }
    sum += weight
    if (sum > best) {
      best = sum
      end = i + 1
    } else if (sum <= 0 || best - sum > likely) {
      close()
    }
  }
  close()
  return edits
}

/** Hundredths of a nat a letter by which rotated letters follow each other better than as written: half of what language gains. */
const leastGain = 50

function addStretch(text: string, first: number, last: number, floor: number, known: KnownWords, edits: Edits): void {
  // Whole words, however the evidence began; a bound keeps this linear.
  let from = first
  let to = last
  for (let k = 0; k < 64 && from > floor && isLetter(text.charCodeAt(from - 1)); k++) from--
  for (let k = 0; k < 64 && isLetter(text.charCodeAt(to)); k++) to++
  const written = text.slice(from, Math.min(to, from + 4_096))
  const words =
    rotate(written)
      .toLowerCase()
      .match(/[a-z]+/g) ?? []
  if (words.length < 2) return
  const gain = gainOf(written, 0, written.length, 'rotated')
  // Letters missing from what is language as written (`c4n y0u`) may tell the wrong way.
  if (gain <= 0) return
  // Whatever the letters say: ROT13 of English holds known words, that of another language pairs of letters as it has them.
  const letters = words.reduce((sum, word) => sum + word.length, 0)
  const read = words.reduce((sum, word) => sum + (common.has(word) || known.has(word) ? word.length : 0), 0)
  if (read * 3 < letters) {
    // Numbers in hexadecimal turn into letters that some language may write.
    const isNumbers = (written.match(/\d/g)?.length ?? 0) * 4 > letters
    if (isNumbers || isToken(written) || gain < leastGain) return
  }
  from = reach(text, from, -1, floor)
  to = reach(text, to, 1, text.length)
  edits.add(from, to, rotate(text.slice(from, to)), 'same')
}

/** How far beyond a stretch words are looked at, in units. */
const farthest = 2_048

/**
 * How far the words beside a stretch go on in rotated letters: letters that are rare in English show where it is, and not
 * where another language's begins.
 */
function reach(text: string, at: number, direction: 1 | -1, bound: number): number {
  const limit = direction > 0 ? Math.min(bound, at + farthest) : Math.max(bound, at - farthest)
  let sum = 0
  let best = 0
  let end = at
  for (let i = at; i !== limit && best - sum <= likely; ) {
    while (i !== limit && !isWordUnit(text, i, direction)) i += direction
    const start = i
    while (i !== limit && isWordUnit(text, i, direction)) i += direction
    if (i === start) break
    const [from, to] = direction > 0 ? [start, i] : [i, start]
    sum += gainOf(text, from, to, 'rotated') * (to - from)
    if (sum > best) {
      best = sum
      end = i
    }
  }
  return end
}

function isWordUnit(text: string, edge: number, direction: 1 | -1): boolean {
  const code = text.charCodeAt(direction > 0 ? edge : edge - 1)
  return code > 127 || isLetter(code)
}

/** Capitals behind small letters, and digits between letters (base64), or digits in many words: rotation would only spoil these. */
function isToken(text: string): boolean {
  if (/[a-z][A-Z]/.test(text) && /[A-Za-z]\d[A-Za-z]/.test(text)) return true
  return (text.match(/\p{L}\d|\d\p{L}/gu)?.length ?? 0) * 8 > (text.match(/\p{L}/gu)?.length ?? 0)
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
}

function rotate(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const code = letter.charCodeAt(0)
    const base = code >= 97 ? 97 : 65
    return String.fromCharCode(((code - base + 13) % 26) + base)
  })
}
