/**
 * Finds cheap signs of hidden content in one pass, with their places: a step without its sign is skipped, and one with
 * it checks only the places. Ordinary prose has almost none.
 */
import { foldUnit, isUnspaced, SPACE } from './characters.js'
import { commonShape } from './english.js'
import { isPlain } from './odd-characters.js'
import { SignPlaces } from './places.js'
import { countBackwards, longestBackwards, readsBackwards } from './reversed.js'
import { likely, weights } from './rotated.js'
import { hasTurnedLine } from './turned-line.js'
import { UnitReader } from './units.js'

/** A character that may be read as another, or as none. Letters of other languages and typographic quotes are none such. */
export const UNUSUAL = 1
/** `&`, `%`, `=` or `\`. */
export const ESCAPE = 2
/** A stretch whose letters are those of English in ROT13. */
export const ROTATED = 4
/** Two words that are English ones backwards, or a line of the shape of one that was turned round. */
export const REVERSED = 8
/**
 * A Latin letter beyond ASCII: English has next to none, and signs of disguised English may mean nothing in another
 * language.
 */
export const ACCENTED = 4096

export interface Signs {
  readonly bits: number
  readonly places: SignPlaces
}

const LETTER = 16
const CAPITAL = 32
const DIGIT = 64
/** `@ $ ! | +`: stand for letters. */
const LEET = 128
/** `+ / - _`, beside letters and digits. */
const BASE64 = 256
/** `@ $`: stand for letters and separate nothing. */
const JOINER = 512
const HEX = 1024
const WIDE = 2048

/** By ASCII code: its kinds in the lower half, its evidence for ROT13 in the upper. */
const kinds = new Int32Array(128).fill(UNUSUAL)
for (let code = 32; code < 127; code++) kinds[code] = 0
for (const code of [9, 10, 13]) kinds[code] = 0
for (let code = 97; code < 123; code++) kinds[code] = LETTER | (weights[code]! << 16)
for (let code = 65; code < 91; code++) kinds[code] = LETTER | CAPITAL | (weights[code]! << 16)
for (let code = 48; code < 58; code++) kinds[code] = DIGIT
for (const c of '0123456789abcdefABCDEF') kinds[c.charCodeAt(0)]! |= HEX
for (const c of '@$!|+') kinds[c.charCodeAt(0)]! |= LEET
for (const c of '@$') kinds[c.charCodeAt(0)]! |= JOINER
for (const c of '+/-_') kinds[c.charCodeAt(0)]! |= BASE64
for (const c of '&%=\\') kinds[c.charCodeAt(0)]! |= ESCAPE

/** The same for units beyond ASCII, filled as they are met. */
const wideKinds = new Int16Array(65536).fill(-1)

function wideKind(text: string, i: number): number {
  const code = text.charCodeAt(i)
  const known = wideKinds[code]!
  if (known >= 0) return known
  const kind =
    (foldUnit(code) > SPACE ? LETTER | WIDE | (isLatin(code) ? ACCENTED : 0) : 0) | (isPlain(text, i) ? 0 : UNUSUAL)
  // The first half of a pair says nothing without the second.
  if (code < 0xd800 || code >= 0xdc00) wideKinds[code] = kind
  return kind
}

function isLatin(code: number): boolean {
  return (code >= 0xc0 && code < 0x250) || (code >= 0x1e00 && code < 0x1f00)
}

const EQUALS = 61

/** Runs shorter than this are neither base64 nor hexadecimal. */
const shortestToken = 8
const shortestPadded = 6
/** Fewer character codes in a row are ordinary. */
const fewestCodes = 4
/** Between two codes of a row stand at most so many words, the same each time: `chr(104)+chr(111)`. */
const mostBetween = 4
/** Words are shorter, with the punctuation beside them. */
const shortestChunk = 14
/** Fewer words in a row without a common one are ordinary in English too. */
const fewestStrange = 3
/** Fewer signs in a row are ordinary. */
const fewestSymbols = 12
/** Nothing but an encoding writes so much without a space. */
const longestWord = 64

const reader = new UnitReader()

export function signsOf(text: string): Signs {
  const units = reader.read(text)
  const { length } = text
  const places = new SignPlaces()
  let bits = 0
  let evidence = 0
  let before = 0
  let backwards = 0
  let codes = 0
  let firstCode = 0
  let lastCode = 0
  let codesEnd = 0
  // What tells the words since the last code, and those between each two of the row, from other words.
  let between = 0
  let usual = 0
  let wordsBetween = 0
  let chunk = 0
  let symbols = 0
  // A common word halves it, any other adds one.
  let strange = 0
  // A word is of letters and digits; a run, a token and a group hold other signs as well, each its own.
  let word = 0
  let run = 0
  let token = 0
  let group = 0
  let seen = 0
  let seenInRun = 0
  let seenInToken = 0
  for (let i = 0; i <= length; i++) {
    const code = i < length ? units[i]! : SPACE
    const kind = code < 128 ? kinds[code]! : wideKind(text, i)
    if ((kind & (LETTER | DIGIT)) !== 0) {
      seen |= kind
      evidence += kind >> 16
      // No less than 0, without a branch that nothing foretells.
      evidence &= ~(evidence >> 31)
      if (evidence >= likely) bits |= ROTATED
      if (code === before && i - word > 1 && units[i - 2] === code && (kind & DIGIT) === 0 && !isUnspaced(code)) {
        if (i - word === 2 || units[i - 3] !== code) places.drawnOut.push(i - 2)
      }
      before = code
      continue
    }
    before = 0
    bits |= kind | seen
    const size = i - word
    if (size === 0) {
      if (i - symbols === fewestSymbols) places.symbols.push(symbols)
    } else {
      symbols = i
    }
    if (size > 1) {
      let isCode = false
      if ((seen & (DIGIT | WIDE)) !== 0) {
        backwards += countBackwards(units, word, i)
        isCode = (seen & LETTER) === 0 || isHexCode(units, word, i)
      } else {
        if (size <= longestBackwards && readsBackwards(units, word, i)) backwards++
        const common = commonShape(units, word, i)
        strange = (strange + 1 - common) >> common
        if (strange >= fewestStrange) places.addStrange(word, i)
        isCode = size === 2 && isHex(units[word]!) && isHex(units[word + 1]!)
      }
      if (isCode) {
        if (codes === 0) {
          firstCode = word
        } else if (codes === 1) {
          usual = between
        } else if (between !== usual) {
          if (codes >= fewestCodes) places.codes.push(firstCode, codesEnd)
          firstCode = codes >= fewestCodes ? word : lastCode
          codes = codes >= fewestCodes ? 0 : 1
          usual = between
        }
        codes++
        lastCode = word
        codesEnd = i
        between = 0
        wordsBetween = 0
      } else if (codes > 0) {
        between = (between * 33 + (size << 8) + units[i - 1]!) | 0
        if (++wordsBetween > mostBetween) {
          if (codes >= fewestCodes) places.codes.push(firstCode, codesEnd)
          codes = 0
        }
      }
    }
    if (code <= SPACE) {
      if (i - chunk >= shortestChunk) places.chunks.push(chunk, i)
      chunk = i + 1
    }
    seenInRun |= seen
    seenInToken |= seen
    seen = 0
    word = i + 1
    if ((kind & LEET) !== 0) {
      seenInRun |= LEET
    } else {
      if ((seenInRun & LETTER) !== 0 && (seenInRun & (DIGIT | LEET)) !== 0) places.mixed.push(run, i)
      run = word
      seenInRun = 0
    }
    if ((kind & BASE64) === 0) {
      if (i - token >= shortestPadded && mayBeToken(units, token, i, seenInToken, code)) places.tokens.push(token, i)
      token = word
      seenInToken = 0
    }
    if ((kind & JOINER) === 0) {
      if (i - group === 1) places.addSingle(group, units[group]!)
      else if (i > group && places.hasSingles) places.endSingles()
      group = word
    }
  }
  places.endSingles()
  if (codes >= fewestCodes) places.codes.push(firstCode, codesEnd)
  return {
    bits: (bits & (UNUSUAL | ESCAPE | ROTATED | ACCENTED)) | (backwards > 1 || hasTurnedLine(text) ? REVERSED : 0),
    places
  }
}

/** @param seen kinds of the characters, @param next the character after them */
function mayBeToken(units: Uint16Array, from: number, to: number, seen: number, next: number): boolean {
  if (next === EQUALS || to - from >= longestWord) return true
  if (to - from < shortestToken) return false
  if ((seen & DIGIT) !== 0) return true
  if ((seen & CAPITAL) === 0) return false
  // One at its start is an ordinary name's.
  for (let i = from + 1; i < to; i++) if (units[i]! >= 65 && units[i]! <= 90) return true
  return false
}

/** Whether a word with digits may be a number in octal or bytes in hexadecimal: `0o150`, `6b`, `0x6b`, `686f`. */
function isHexCode(units: Uint16Array, from: number, to: number): boolean {
  if (!isHex(units[to - 1]!) || !isHex(units[to - 2]!)) return false
  const size = to - from
  if (size % 2 === 0 && isHex(units[from]!)) return true
  // `0o150`
  if (units[from] === 48 && (units[from + 1]! | 32) === 111) return true
  // Text before an x, or in another script, does not belong to it.
  const before = size > 2 ? units[to - 3]! | 32 : 0
  return before === 120 || before > 127
}

function isHex(code: number): boolean {
  return code < 128 && (kinds[code]! & HEX) !== 0
}
