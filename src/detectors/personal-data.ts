/** Personal data: what names or reaches one person. Shapes with checksums first; weak shapes only beside a word that names them. */
import type { Detector, Finding } from './detector.js'
import { findEmails, findNetworkAddresses, findPhones, findStreets } from './personal-data/contact.js'
import { findBirthDates, findCards, findIbans, findNationalNumbers } from './personal-data/numbers.js'
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
    'us_ssn',
    'uk_nino',
    'es_dni',
    'de_tax_id',
    'br_cpf',
    'br_cnpj',
    'fr_nir',
    'cn_resident_id',
    'in_aadhaar',
    'pl_pesel',
    'it_codice_fiscale',
    'passport',
    'driving_licence',
    'date_of_birth'
  ],
  find(text) {
    const found: Finding[] = []
    findEmails(text, 0, found)
    eachDigitWindow(text, (from, to, many) => {
      const window = text.slice(from, to)
      if (many) for (const find of ofLongNumbers) find(window, from, found)
      findStreets(window, from, found)
    })
    return withoutOverlaps(found)
  }
}

const ofLongNumbers = [findPhones, findCards, findIbans, findNationalNumbers, findNetworkAddresses, findBirthDates]

/** Characters read on either side of a digit: more than any shape here and the word beside it take. */
const reach = 96

/**
 * Visits the surroundings of digits, since every shape here but an e-mail address has some.
 * `many`: whether four of them stand within twelve characters, the least that a number here has.
 */
function eachDigitWindow(text: string, visit: (from: number, to: number, many: boolean) => void): void {
  let from = -1
  let to = 0
  let many = false
  let count = 0
  let first = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 48 || code > 57) continue
    if (from < 0 || i - reach > to) {
      if (from >= 0) visit(from, to, many)
      from = Math.max(0, i - reach)
      many = false
      count = 0
    }
    to = Math.min(text.length, i + reach)
    if (count === 0 || i - first > 12) {
      count = 0
      first = i
    }
    if (++count >= 4) many = true
  }
  if (from >= 0) visit(from, to, many)
}
