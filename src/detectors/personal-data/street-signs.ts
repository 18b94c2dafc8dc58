/**
 * A cheap check whether the words beside a number may form an address, by their letters, so that most numbers need no
 * pattern.
 */

/** Bits of `DigitWindow.streets`, one for each pattern of `streets.ts`. */
export const ENGLISH = 1
export const GERMAN = 2
export const FRENCH = 4
export const SOUTHERN = 8
export const BOX = 16
export const POSTAL = 32

/** Words by their first letter, last letter and length: a filter that lets few others through. */
class Shapes {
  readonly #lengths = new Uint16Array(1 << 10)

  constructor(words: string) {
    for (const word of words.split(/\s+/)) {
      const edges = ((word.charCodeAt(0) & 31) << 5) | (word.charCodeAt(word.length - 1) & 31)
      this.#lengths[edges]! |= 1 << word.length
    }
  }

  /** @param units those of [from, to) are ASCII letters */
  mayHold(units: Uint16Array, from: number, to: number): boolean {
    const edges = ((units[from]! & 31) << 5) | (units[to - 1]! & 31)
    return to - from < 16 && ((this.#lengths[edges]! >> (to - from)) & 1) !== 0
  }
}

const after = new Shapes(
  `street st road rd avenue ave lane ln drive dr boulevard blvd court ct place square sq terrace close crescent highway hwy
  parkway pkwy way row mews quay rue chemin allee impasse quai cours`
)
const before = new Shapes('calle paseo avenida avda plaza via viale piazza corso rua travessa ulica ul')

/** Words from the number to the kind of street, which stands among them. */
const mostWords = 4
const longestWord = 20

/** `12 Oak Street`, `12, rue …`: in the words after the number one may be a kind of street. */
export function streetAfter(units: Uint16Array, start: number, end: number, length: number): number {
  if (end - start > 5) return 0
  let i = end
  if (i < length && isLetter(units[i]!)) i++
  if (i < length && units[i] === COMMA) i++
  for (let word = 0; word < mostWords && i < length && units[i] === SPACE; word++) {
    const from = ++i
    let letters = -1
    for (; i < length && i - from <= longestWord; i++) {
      const code = units[i]!
      if (isLetter(code)) continue
      // Other letters are left to the patterns.
      if (code > 127) return ENGLISH | FRENCH
      if (letters < 0) letters = i
      if (code !== APOSTROPHE && code !== DOT && code !== HYPHEN) break
    }
    const to = letters < 0 ? i : letters
    if (to - from > 1 && after.mayHold(units, from, to)) return ENGLISH | FRENCH
  }
  return 0
}

/** Longest text between the kind of street and the number. */
const furthest = 112

/** `Calle Mayor, n.º 12`. */
export function southernBefore(units: Uint16Array, start: number): number {
  let to = start
  const least = Math.max(0, start - furthest)
  for (let i = start - 1; i >= least; i--) {
    const code = units[i]!
    if (isLetter(code)) continue
    if (code > 127) return SOUTHERN
    if (to - i > 2 && before.mayHold(units, i + 1, to)) return SOUTHERN
    if (code === SLASH && i > 0 && (units[i - 1]! | 32) === 99) return SOUTHERN
    if (code !== SPACE && code !== COMMA && code !== APOSTROPHE && code !== DOT && code !== HYPHEN) return 0
    to = i
  }
  return to - least > 1 && before.mayHold(units, least, to) ? SOUTHERN : 0
}

/** `Hauptstraße 12`. */
export function germanBefore(text: string, units: Uint16Array, start: number): number {
  if (
    start < 4 ||
    units[start - 1] !== SPACE ||
    !germanEnds.has(((units[start - 3]! & 31) << 5) | (units[start - 2]! & 31))
  )
    return 0
  return /(?:straße|strasse|str\.|allee|gasse|weg|platz|ring|damm|ufer|straat|gracht|laan|kade|plein|dijk|singel|gatan|vägen|gade|vej|gata|katu) $/.test(
    text.slice(Math.max(0, start - 8), start)
  )
    ? GERMAN
    : 0
}

/** `…12, 10115 Berlin`: a number after a number, of five digits. */
export function postalAfter(units: Uint16Array, start: number, size: number, gap: number): number {
  return size === 5 && gap === 2 && units[start - 1] === SPACE && units[start - 2] === COMMA ? POSTAL : 0
}

/** Keys of the last two characters of such words. */
const germanEnds = new Set(
  [
    'ße',
    'se',
    'r.',
    'ee',
    'eg',
    'tz',
    'ng',
    'mm',
    'er',
    'at',
    'ht',
    'an',
    'de',
    'in',
    'jk',
    'el',
    'en',
    'ej',
    'ta',
    'tu'
  ].map((end) => ((end.charCodeAt(0) & 31) << 5) | (end.charCodeAt(1) & 31))
)

/** `P.O. Box 12`. */
export function boxBefore(units: Uint16Array, start: number): number {
  return start > 4 && units[start - 1] === SPACE && (units[start - 2]! | 32) === 120 ? BOX : 0
}

const SPACE = 32
const APOSTROPHE = 39
const COMMA = 44
const HYPHEN = 45
const DOT = 46
const SLASH = 47

function isLetter(code: number): boolean {
  const lower = code | 32
  return lower >= 97 && lower <= 122
}
