/**
 * Detects personal data, which identify or reach one person. Shapes with checksums come first; weak shapes count only
 * beside a word that names them.
 */

import { lastWord, wordStart } from '../text/sentence.js'
import type { Detector, Finding } from './detector.js'
import { findEmails, findIPv4, findIPv6AndHardware, findPhones } from './personal-data/contact.js'
import { findNationalNumbers, nationalKinds } from './personal-data/national.js'
import { findBirthDates, findCards, findIbans, mayFollowBirth } from './personal-data/numbers.js'
import { findStreets } from './personal-data/streets.js'
import { findTravelDocuments } from './personal-data/travel-document.js'
import { type DigitWindow, digitWindows, reach } from './personal-data/windows.js'
import { withoutOverlaps } from './span.js'

export const personalData: Detector = {
  id: 'personal_data',
  kinds: [
    'email',
    'phone',
    'ip_address',
    'mac_address',
    'street_address',
    'payment_card',
    'iban',
    ...nationalKinds,
    'travel_document',
    'date_of_birth'
  ],
  growsFrom,
  find(text) {
    const found: Finding[] = []
    findEmails(text, 0, found)
    findTravelDocuments(text, found)
    for (const window of digitWindows(text)) {
      const { from, streets } = window
      const many = window.many || window.isCode
      const needsText = streets !== 0 || many
      const part = needsText ? text.slice(from, window.to) : ''
      if (many) findNumbers(text, part, window, found)
      if (streets !== 0) findStreets(part, from, streets, found)
    }
    return withoutOverlaps(found)
  }
}

/** Streets whose kind comes first, and boxes: what follows them may be a number. */
const streetBefore =
  /(?<!\p{L})(?:calle|c\/|paseo|avenida|avda\.|plaza|via|viale|piazza|corso|rua|travessa|ulica|ul\.|p\.? ?o\.? ?box)(?!\p{L})/iu

/**
 * An address at the end, a number within the reach of what reads numbers, and before each the word that may belong to it:
 * a month, a street. A street whose kind comes first is a few words longer.
 */
function growsFrom(text: string): number {
  const near = text.slice(Math.max(0, text.length - reach)).search(/[0-9]/)
  const number = near < 0 ? lastWord(text) : wordStart(text, Math.max(0, text.length - reach) + near)
  const word = wordStart(text, text.slice(0, number).trimEnd().length)
  const least = Math.max(0, word - reach)
  const street = text.slice(least).search(streetBefore)
  return street < 0 ? word : Math.min(word, least + street)
}

/** The least digits in a row of each: a telephone number, a card, a national number, a driving licence. */
const phoneDigits = 7
const cardDigits = 12
const nationalDigits = 6
const licenceDigits = 5

function findNumbers(text: string, part: string, window: DigitWindow, found: Finding[]): void {
  const { from, digits, inWord, isCode, isDotted, hasCountry, firstDate, lastDate } = window
  if (digits >= phoneDigits) findPhones(part, from, found)
  if (digits >= cardDigits) findCards(part, from, found)
  if (hasCountry) findIbans(part, from, found)
  if (digits >= nationalDigits || inWord >= licenceDigits || isCode) findNationalNumbers(part, from, found)
  if (isDotted) findIPv4(part, from, found)
  findIPv6AndHardware(part, from, found)
  if (firstDate >= 0 && mayFollowBirth(text, firstDate, lastDate)) findBirthDates(part, from, found)
}
