/** Decodes the encoded stretches of a text. */
import { base32Edits } from './encodings/base32.js'
import { base64Edits } from './encodings/base64.js'
import { pieceEdits } from './encodings/base64-pieces.js'
import { base85Edits } from './encodings/base85.js'
import { brailleEdits } from './encodings/braille.js'
import { codeEdits } from './encodings/codes.js'
import { entityEdits, escapeEdits, percentEdits } from './encodings/escapes.js'
import { hexEdits } from './encodings/hex.js'
import { morseEdits } from './encodings/morse.js'
import { punycodeEdits, punycodePrefix } from './encodings/punycode.js'
import { quotedPrintableEdits } from './encodings/quoted-printable.js'
import { spellingEdits } from './encodings/spelling.js'
import { Edits } from './rewrite.js'
import { ESCAPE, type Signs, UNUSUAL } from './signs.js'

export interface Decoding {
  /** `url`, `base64`, or both joined by `+` where both occur side by side. */
  layer: string
  edits: Edits
}

/** One round with all encodings, which occur in different places. Undefined where nothing is encoded. */
export function decodeOnce(text: string, { bits, places }: Signs): Decoding | undefined {
  const { tokens, codes, chunks, symbols, strange } = places
  const isOrdinary = (bits & (ESCAPE | UNUSUAL)) === 0 && !places.mayDecode
  if (isOrdinary && !text.includes(punycodePrefix)) return undefined
  const layers: string[] = []
  let edits = new Edits()
  // Of two overlapping ones the earlier call counts: the least ambiguous encodings come first.
  const add = (layer: string, found: Edits) => {
    if (found.size === 0) return
    const all = edits.merged(found)
    if (all.size > edits.size && !layers.includes(layer)) layers.push(layer)
    edits = all
  }
  if (chunks.length > 0) add('base85', base85Edits(text, chunks))
  if ((bits & ESCAPE) !== 0) {
    if (text.includes('&')) add('html', entityEdits(text))
    if (text.includes('%')) add('url', percentEdits(text))
    if (text.includes('=')) add('quoted-printable', quotedPrintableEdits(text))
  }
  if (places.mayDecode) add('base64', pieceEdits(text, places.pieces()))
  if (tokens.length > 0 || codes.length > 0) {
    const encoded = places.encoded()
    for (const [base, found] of codeEdits(text, encoded)) add(base, found)
    add('base32', base32Edits(text, tokens))
    add('hex', hexEdits(text, encoded))
    add('base64', base64Edits(text, tokens))
  }
  if ((bits & ESCAPE) !== 0 && text.includes('\\')) add('escape', escapeEdits(text))
  if (symbols.length > 0) add('morse', morseEdits(text, symbols))
  if (strange.length > 0) add('nato', spellingEdits(text, strange))
  if ((bits & UNUSUAL) !== 0) add('braille', brailleEdits(text))
  if (text.includes(punycodePrefix)) add('punycode', punycodeEdits(text))
  return layers.length === 0 ? undefined : { layer: layers.join('+'), edits }
}
