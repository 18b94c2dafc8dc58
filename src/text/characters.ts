/** Folding of characters beyond ASCII, by the Unicode properties of the running engine. */

/** Written without spaces, or with particles joined to the word (Korean): a phrase in these matches inside a longer run. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Bopomofo}々ー\u3099\u309a]/u
const wordCharacter = /[\p{L}\p{N}\p{M}]/u

/** The answers of the table below that are no replacement character. */
export const DROP = 1
export const SPACE = 32

/** Set beside a replacement: the character belongs to a script without spaces. */
export const UNSPACED = 0x10000

/** Cache of folded values by UTF-16 unit; 0 for unknown ones. */
const answers = new Int32Array(65536)

/** Folded value of one unit of the basic plane (no surrogate): `DROP`, `SPACE`, or a code unit, with `UNSPACED` set or not. */
export function foldUnit(code: number): number {
  const known = answers[code]!
  if (known !== 0) return known
  const answer = decide(code)
  answers[code] = answer
  return answer
}

function decide(code: number): number {
  // Accents of Latin and Greek, written as their own character: dropped, as they are from the composed letters below.
  if (code >= 0x300 && code <= 0x36f) return DROP
  // Variation selectors choose a form of the character before them and are no letters of their own.
  if (code >= 0xfe00 && code <= 0xfe0f) return DROP
  const text = String.fromCharCode(code)
  if (!wordCharacter.test(text)) return SPACE
  const lower = baseLetter(text.toLowerCase())
  // One letter becomes one letter (İ lower-cases to two units): offsets stay simple.
  const unit = lower.charCodeAt(0)
  return unspaced.test(text) ? unit | UNSPACED : unit
}

/** Latin letters with a stroke, and the dotless i, which have no decomposition. */
const strokes = 'øłđħŧı'

/** Letters of Latin and Greek without their accents, and ё as е: people write both, and phrases are folded alike. */
function baseLetter(lower: string): string {
  if (strokes.includes(lower)) return withoutStroke(lower)
  const code = lower.charCodeAt(0)
  const accented = (code >= 0xc0 && code <= 0x3ff) || (code >= 0x1e00 && code <= 0x1fff) || code === 0x451
  if (!accented) return lower
  const base = lower.normalize('NFD')
  const next = base.charCodeAt(1)
  // What is left may have a stroke of its own (ǿ).
  return next >= 0x300 && next <= 0x36f ? withoutStroke(base.charAt(0)) : lower
}

function withoutStroke(letter: string): string {
  const stroke = strokes.indexOf(letter)
  return stroke < 0 ? letter : 'oldhti'.charAt(stroke)
}

/** Folded value of a code point beyond the basic plane: its two units in lower case, or undefined for a space. */
export function foldAstral(point: number): { first: number; second: number; unspaced: boolean } | undefined {
  const text = String.fromCodePoint(point)
  if (!wordCharacter.test(text)) return undefined
  const lower = text.toLowerCase()
  return { first: lower.charCodeAt(0), second: lower.charCodeAt(1), unspaced: unspaced.test(text) }
}

/** Whether no boundary is needed beside this code point. */
export function isUnspaced(point: number): boolean {
  return point > 0x2ff && unspaced.test(String.fromCodePoint(point))
}

export function isAsciiLetter(code: number): boolean {
  const lower = code | 32
  return lower >= 97 && lower <= 122
}

/** Of any script, digits beyond ASCII included; false for NaN, the code beyond the ends of a text. */
export function isLetter(code: number): boolean {
  return code < 128 ? isAsciiLetter(code) : code >= 128 && foldUnit(code) > SPACE
}
