/** Street addresses. */
import type { Finding } from '../detector.js'
import { before } from '../span.js'
import { BOX, ENGLISH, FRENCH, GERMAN, POSTAL, SOUTHERN } from './street-signs.js'

const english =
  /(?<![\w.,-])\d{1,5}[a-z]?,? (?:[\p{L}'’.-]{2,20} ){1,3}(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|boulevard|blvd|court|ct|place|square|sq|terrace|close|crescent|highway|hwy|parkway|pkwy|way|row|mews|quay)(?![\p{L}'’])/giu
const smallWord =
  /\b(?:the|of|on|in|at|a|an|per|to|and|or|for|from|by|with|minutes?|hours?|days?|years?|people|men|women|cars|miles|km|metres?|meters?|percent|was|were|is|are|my|your|their|his|her|our|this|that|down|along|only|more|than|another|each|every)\b/i
/** Types that are also ordinary words count where they are written as names, or where a comma ends them. */
const weakType = /(?:place|way|row|close|square|court|drive|st|dr|ct|sq|lane)$/
const german =
  /(?<!\p{L})(?:\p{L}[\p{L}-]{1,30}(?:straße|strasse|str\.|allee|gasse|straat|gracht|laan|kade|plein|dijk|singel|gatan|vägen|gade|vej|gata|katu)|\p{Lu}[\p{L}-]{1,30}(?:weg|platz|ring|damm|ufer)) \d{1,4}(?:[ \u00a0]?[a-z])?(?![\p{L}\d])/gu
const french =
  /(?<![\w.,-])\d{1,4}(?: bis| ter)?,? (?:rue|avenue|boulevard|place|chemin|all[ée]e|impasse|quai|cours) (?:de la |de l['’]|d[eu] |des |d['’]|l['’])?[\p{L}-]{2,30}/giu
const southern =
  /(?<!\p{L})(?:calle|c\/|paseo|avenida|avda\.|plaza|via|viale|piazza|corso|rua|travessa|ulica|ul\.) (?:[\p{L}'’.-]{2,20} ){0,3}[\p{L}'’-]{2,20},? (?:n[ºo°.]{1,2} ?)?\d{1,4}(?![\d.])/giu
/** Any name with a house number, where a post code and a town follow. */
const postal =
  /(?<!\p{L})\p{Lu}[\p{L}.-]{1,24}(?: \p{Lu}?[\p{L}.-]{1,24}){0,2} \d{1,4}[a-z]?, \d{5} \p{Lu}\p{L}{2,30}/gu
const box = /(?<!\w)p\.? ?o\.? ?box \d{1,6}(?!\d)/gi

const patterns: readonly [sign: number, pattern: RegExp][] = [
  [ENGLISH, english],
  [GERMAN, german],
  [FRENCH, french],
  [SOUTHERN, southern],
  [BOX, box],
  [POSTAL, postal]
]

/**
 * A house number and a street: the strong shapes of a few languages. A town or post code near raises the confidence.
 * @param signs the kinds that may be there
 */
export function findStreets(text: string, offset: number, signs: number, found: Finding[]): void {
  for (const [sign, pattern] of patterns) {
    if ((signs & sign) === 0) continue
    for (const { 0: match, index } of text.matchAll(pattern)) {
      const end = index + match.length
      if (pattern === english && (smallWord.test(match) || (weakType.test(match) && text[end] !== ','))) continue
      const after =
        /^,? ?(?:(?:flat|apt|apartment|unit|suite|#|no)\.? ?\w{1,5},? ?)?(?:\d{4,6} )?\p{Lu}?\p{L}{2,}|^,/u.test(
          text.slice(end, end + 40)
        )
      const named = /(?:address|adresse|direcci[oó]n|indirizzo|live|lives|living|wohn|habit|ship|deliver|send)/.test(
        before(text, index, 60)
      )
      found.push({
        kind: 'street_address',
        confidence: named ? 0.85 : after ? 0.7 : 0.55,
        start: offset + index,
        end: offset + end
      })
    }
  }
}
