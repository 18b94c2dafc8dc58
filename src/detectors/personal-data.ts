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
    if (text.includes('@')) found.push(...findEmails(text))
    const digits = digitSigns(text)
    if (digits === 0) return found
    if (digits & LONG) {
      found.push(...findPhones(text), ...findCards(text), ...findIbans(text), ...findNationalNumbers(text))
      found.push(...findNetworkAddresses(text), ...findBirthDates(text))
    }
    found.push(...findStreets(text))
    return withoutOverlaps(found)
  }
}

const SOME = 1
const LONG = 2

/** Whether there are digits, and whether four or more stand within twelve characters: the least that any number here has. */
function digitSigns(text: string): number {
  let signs = 0
  let count = 0
  let first = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 48 || code > 57) continue
    signs |= SOME
    if (count === 0 || i - first > 12) {
      count = 0
      first = i
    }
    if (++count >= 4) return SOME | LONG
  }
  return signs
}
