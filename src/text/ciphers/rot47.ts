/** ROT47: the 94 printable signs of ASCII turned by half, so that small letters become digits, punctuation and A to K. */
import type { KnownWords } from '../known-words.js'
import type { Stretches } from '../places.js'
import { Edits } from '../rewrite.js'
import { frequency } from '../rotated.js'
import { holdsWords } from './substituted.js'

/** By character code, how much likelier the decoded sign is than the written one, in hundredths of a nat. */
const weights = new Int16Array(128)
for (let code = 33; code < 127; code++) {
  weights[code] = Math.max(-250, Math.min(250, Math.round(100 * (likelihood(turned(code)) - likelihood(code)))))
}

/** Likelihood of a character in text: highest for small letters, then capitals, then everything else. */
function likelihood(code: number): number {
  const lower = code | 32
  const isLetter = lower >= 97 && lower <= 122
  return Math.log(isLetter ? (frequency[lower - 97]! / 1e4) * (code >= 97 ? 0.9 : 0.05) : 0.002)
}

const enough = 1_200
const fewestKnown = 0.6
/** Looked at around a word of letters and signs, in units. */
const around = 64

/** @param mixed where words mix letters with digits and signs: nearly every word does */
export function rot47Edits(text: string, mixed: Stretches, words: KnownWords): Edits {
  const edits = new Edits()
  let done = 0
  for (let s = 0; s < mixed.length; s += 2) {
    const from = Math.max(done, mixed[s]! - around)
    let to = mixed[s + 1]! + around
    while (s + 2 < mixed.length && mixed[s + 2]! <= to + around) {
      s += 2
      to = mixed[s + 1]! + around
    }
    done = Math.min(to, text.length)
    findStretches(text, from, done, words, edits)
  }
  return edits
}

function findStretches(text: string, first: number, last: number, words: KnownWords, edits: Edits): void {
  let sum = 0
  let best = 0
  let from = 0
  let end = 0
  const close = () => {
    if (best >= enough) addStretch(text, from, end, words, edits)
    sum = 0
    best = 0
  }
  for (let i = first; i < last; i++) {
    const code = text.charCodeAt(i)
    const weight = code < 128 ? weights[code]! : -250
    if (weight === 0) continue
    if (sum === 0) from = i
    sum += weight
    if (sum > best) {
      best = sum
      end = i + 1
    } else if (sum <= 0 || best - sum > enough) {
      close()
    }
  }
  close()
}

/** Whole words, however the evidence began. */
function addStretch(text: string, first: number, last: number, words: KnownWords, edits: Edits): void {
  let from = first
  let to = last
  const floor = edits.size > 0 ? edits.to[edits.size - 1]! : 0
  for (let k = 0; k < around && from > floor && text.charCodeAt(from - 1) > 32; k++) from--
  for (let k = 0; k < around && text.charCodeAt(to) > 32; k++) to++
  if (from < floor || isEscaped(text.slice(from, to))) return
  const turnedText = text.slice(from, to).replace(/[!-~]/g, (sign) => String.fromCharCode(turned(sign.charCodeAt(0))))
  if (holdsWords(turnedText.slice(0, 2_048), words, fewestKnown)) edits.add(from, to, turnedText, 'same')
}

/** Escapes of a programming language (`\u0068`) have the same signs. */
function isEscaped(text: string): boolean {
  return (text.match(/\\[ux][\da-f]{2}/gi)?.length ?? 0) * 12 > text.length
}

function turned(code: number): number {
  return 33 + ((code - 33 + 47) % 94)
}
