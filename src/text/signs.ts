/** Cheap signs, found in one pass, of what a text may hide; a step whose sign is missing need not look. */
import { foldUnit, SPACE } from './characters.js'

export const UNUSUAL = 1
/** A word that mixes letters with digits or signs. */
export const MIXED = 2
/** Three single letters in a row, or two of a script without spaces. */
export const SINGLES = 4
/** Three equal letters in a row. */
export const DRAWN_OUT = 8
/** A run that may be base64 or hexadecimal. */
export const TOKEN = 16
/** `&`, `%` or `\`. */
export const ESCAPE = 32

const LETTER = 1
const CAPITAL = 2
const DIGIT = 4
const LEET = 8
const BASE64 = 16
const ESCAPES = 32
const PLAIN = 64

const kinds = new Uint8Array(128)
for (let code = 32; code < 127; code++) kinds[code] = PLAIN
for (const code of [9, 10, 13]) kinds[code] = PLAIN
for (let code = 97; code < 123; code++) kinds[code] = PLAIN | LETTER
for (let code = 65; code < 91; code++) kinds[code] = PLAIN | LETTER | CAPITAL
for (let code = 48; code < 58; code++) kinds[code] = PLAIN | DIGIT
for (const c of '@$!|+') kinds[c.charCodeAt(0)] = PLAIN | LEET
for (const c of '+/-_') kinds[c.charCodeAt(0)]! |= BASE64
for (const c of '&%\\') kinds[c.charCodeAt(0)]! |= ESCAPES

/** Runs shorter than this are neither base64 nor hexadecimal. */
const shortestToken = 8
const shortestPadded = 6

export function signsOf(text: string): number {
  let signs = 0
  let seen = 0
  let word = 0
  let token = 0
  let tokenSeen = 0
  let singles = 0
  let distance = 0
  let pairs = 0
  let before = 0
  let same = 0
  for (let i = 0; i <= text.length; i++) {
    const code = i < text.length ? text.charCodeAt(i) : 32
    let kind: number
    if (code < 128) {
      kind = kinds[code]!
      if ((kind & PLAIN) === 0) signs |= UNUSUAL
    } else {
      signs |= UNUSUAL
      kind = foldUnit(code) > SPACE ? LETTER : 0
    }
    if ((kind & (LETTER | DIGIT)) !== 0) {
      if (code !== before) same = 0
      else if (++same === 2 && (kind & LETTER) !== 0) signs |= DRAWN_OUT
      before = code
      word++
      seen |= kind
      token++
      tokenSeen |= token > 1 ? kind : kind & DIGIT
      continue
    }
    before = 0
    same = 0
    signs |= kind & ESCAPES
    if (word === 1 || (kind & LEET && word === 0)) {
      singles = distance <= 3 ? singles + 1 : 1
      // Two single letters of Chinese are a word taken apart; initials and options are three at most before this.
      if (singles >= 3 || (singles === 2 && text.charCodeAt(i - 1) > 0x2ff)) signs |= SINGLES
      distance = 0
    } else if (word > 1) {
      singles = 0
      pairs = word === 2 ? pairs + 1 : 0
      if (pairs >= 4) signs |= TOKEN
    }
    distance++
    if ((kind & LEET) !== 0) {
      seen |= LEET
    } else {
      if ((seen & LETTER) !== 0 && (seen & (DIGIT | LEET)) !== 0) signs |= MIXED
      seen = 0
    }
    word = 0
    if ((kind & BASE64) !== 0) {
      token++
    } else {
      const isPadded = code === 61 && token >= shortestPadded
      if (isPadded || (token >= shortestToken && (token >= 64 || (tokenSeen & (CAPITAL | DIGIT)) !== 0))) signs |= TOKEN
      token = 0
      tokenSeen = 0
    }
  }
  return signs
}
