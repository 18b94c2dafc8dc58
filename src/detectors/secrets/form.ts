/**
 * Compiles forms of tokens: literal text and runs of an alphabet, as issuers document them. `npm_<36 base62>` is the
 * text `npm_` and 36 letters or digits; `<20-64 word>` is 20 to 64 characters. A run is greedy without backtracking, so
 * the next piece must begin outside of its alphabet; `compileForm` refuses other forms.
 */

const lower = 'abcdefghijklmnopqrstuvwxyz'
const upper = lower.toUpperCase()
const digits = '0123456789'

export const base62 = digits + upper + lower

const alphabets = {
  digit: digits,
  hex: `${digits}abcdef`,
  anyhex: `${digits}abcdefABCDEF`,
  lower,
  upper,
  letter: upper + lower,
  base32: `${upper}234567`,
  bech32: 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L',
  lower36: digits + lower,
  upper36: digits + upper,
  base62,
  /** base64url, which has no padding here. */
  word: `${base62}_-`,
  /** base64 without its padding. */
  base64: `${base62}+/`,
  /** base64 with its padding. */
  padded: `${base62}+/=`,
  /** Of either base64, with padding. */
  any64: `${base62}+/=_-`,
  /** Unreserved characters of URLs, but the dot that ends sentences. */
  tilde: `${base62}_~-`,
  dotted: `${base62}_.~-`
} as const

export type AlphabetName = keyof typeof alphabets
const names = Object.keys(alphabets) as AlphabetName[]
export const alphabetCount = names.length

/** Per ASCII character a bit for each alphabet that holds it. */
export const memberships = new Int32Array(128)
for (const [bit, name] of names.entries())
  for (const character of alphabets[name]) memberships[character.charCodeAt(0)]! |= 1 << bit

export type Piece =
  | { readonly literal: string }
  | { readonly alphabet: number; readonly fewest: number; readonly most: number }

export interface Form {
  readonly pieces: readonly Piece[]
  /** Index of the searched literal. */
  readonly anchor: number
}

/** @throws RangeError where the form cannot be read in one direction, or names an unknown alphabet */
export function compileForm(form: string): Form {
  const pieces: Piece[] = []
  for (const [, literal, fewest, most, name] of form.matchAll(/([^<]+)|<(\d+)(?:-(\d+))? (\w+)>/g)) {
    if (literal !== undefined) {
      pieces.push({ literal })
      continue
    }
    const alphabet = names.indexOf(name as AlphabetName)
    if (alphabet < 0) throw new RangeError(`${form}: unknown alphabet ${name}; known: ${names.join(', ')}`)
    pieces.push({ alphabet, fewest: Number(fewest), most: Number(most ?? fewest) })
  }
  const anchor = anchorOf(pieces)
  if (anchor < 0) throw new RangeError(`${form}: needs literal text by which to be found`)
  for (const [i, run] of pieces.entries()) {
    if ('literal' in run || run.fewest === run.most) continue
    // Before the anchor a form is read backwards.
    const next = pieces[i < anchor ? i - 1 : i + 1]
    if (next === undefined) continue
    if (!('literal' in next) || isIn(run.alphabet, next.literal.charCodeAt(i < anchor ? next.literal.length - 1 : 0)))
      throw new RangeError(`${form}: what a run of several lengths touches must begin outside its alphabet`)
  }
  return { pieces, anchor }
}

/** The first literal where it is long enough to be rare, else the longest. */
function anchorOf(pieces: readonly Piece[]): number {
  const size = (i: number) => {
    const piece = pieces[i]
    return piece !== undefined && 'literal' in piece ? piece.literal.length : 0
  }
  if (size(0) >= 3) return 0
  let best = -1
  for (let i = 0; i < pieces.length; i++) if (size(i) > (best < 0 ? 0 : size(best))) best = i
  return best
}

export function isIn(alphabet: number, code: number): boolean {
  return code < 128 && ((memberships[code]! >> alphabet) & 1) !== 0
}

/** Letters and digits: a token neither begins nor ends beside one. */
export const wordBit = names.indexOf('base62')
