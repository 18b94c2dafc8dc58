/** Finds national numbers of persons by shape and check digits, and for common shapes by the word before them. */
import { LiteralScanner } from '../../text/literals.js'
import { UnitReader } from '../../text/units.js'
import type { Finding } from '../detector.js'
import type { Find } from '../span.js'
import { americas } from './national/americas.js'
import { asia } from './national/asia.js'
import { documents } from './national/documents.js'
import { easternEurope } from './national/eastern-europe.js'
import { europe } from './national/europe.js'
import type { National } from './national/row.js'

const all: readonly National[] = [...americas, ...europe, ...easternEurope, ...asia, ...documents]
export const nationalKinds: readonly string[] = [...new Set(all.map(({ kind }) => kind))]

const byShape = all.filter(({ near }) => near === undefined)
const signed = byShape.flatMap(({ sign, kind }, row) =>
  (sign ?? noSign(kind)).split('|').map((each) => ({ row, each }))
)
const signScanner = new LiteralScanner(
  signed.map(({ each }) => each),
  (sign) => (sign === '9' ? '012345678' : sign === 'A' ? 'BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz' : '')
)

function noSign(kind: string): never {
  throw new RangeError(`${kind}: needs a sign, or what must stand near`)
}

const byWord = all.filter(({ near }) => near !== undefined)
/** Every phrase once, with the rows that it belongs to. */
const phrases = [...new Set(byWord.flatMap(({ near }) => near!.split('|')))]
const rowsOf = phrases.map((phrase) =>
  byWord.flatMap(({ near }, row) => (near!.split('|').includes(phrase) ? [row] : []))
)
const texts = phrases.map((phrase) => phrase.replace('*', ''))
const wordScanner = new LiteralScanner(texts, (character) => {
  const upper = character.toUpperCase()
  return upper.length === 1 ? upper : ''
})

/** Characters before a number in which its word stands. */
const wordReach = 48
/** Thai and what comes after it has no spaces between words. */
const firstUnspaced = 0xe00

const reader = new UnitReader()

export const findNationalNumbers: Find = (text, offset, found) => {
  const units = reader.read(text)
  let signs: Set<number> | undefined
  signScanner.scan(units, 0, text.length, (index) => {
    signs ??= new Set()
    signs.add(signed[index]!.row)
  })
  /** Per row, where its words end. */
  let words: Map<number, number[]> | undefined
  wordScanner.scan(units, 0, text.length, (index, end) => {
    if (!isWord(text, end - texts[index]!.length, end, phrases[index]!.endsWith('*'))) return
    words ??= new Map()
    for (const row of rowsOf[index]!) words.set(row, [...(words.get(row) ?? []).slice(-mostWords), end])
  })
  for (const row of signs ?? []) addMatches(byShape[row]!, text, offset, found)
  for (const [row, ends] of words ?? []) addMatches(byWord[row]!, text, offset, found, ends)
}

/** Most words of one row that are kept in a window: more is no sentence. */
const mostWords = 32

function isWord(text: string, from: number, to: number, mayGoOn: boolean): boolean {
  if (text.charCodeAt(from) >= firstUnspaced) return true
  if (from > 0 && letter.test(text[from - 1]!)) return false
  return mayGoOn || to >= text.length || !letter.test(text[to]!)
}

const letter = /[\p{L}\p{M}]/u

/** @param ends ends of the words, one of which must stand before a match */
function addMatches(
  { kind, shape, valid, confidence }: National,
  text: string,
  offset: number,
  found: Finding[],
  ends?: readonly number[]
): void {
  for (const { 0: match, index } of text.matchAll(shape)) {
    if (ends !== undefined && !ends.some((end) => end <= index && end > index - wordReach)) continue
    if (valid(match.replace(/[^A-Za-z0-9]/g, '').toUpperCase(), match))
      found.push({ kind, confidence, start: offset + index, end: offset + index + match.length })
  }
}
