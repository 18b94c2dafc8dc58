/** National numbers of western and northern Europe. */
import { codiceFiscale, dni, nir, steuerId } from '../checksums.js'
import { dayFirst, isDate, isVaried, luhnVaried, mod10, mod11, weigh, yearFirst } from './checks.js'
import { always, edge, grouped, type National } from './row.js'

const descending = (from: number, count: number) => Array.from({ length: count }, (_, i) => from - i)

/** Norway: two check digits. */
function fodselsnummer(id: string): boolean {
  const isBorn = isDate(`${Number(id[0]) % 4}${id.slice(1)}`, 2, 0) || dayFirst(id)
  return isBorn && mod11(id, [3, 7, 6, 1, 8, 9, 4, 5, 2]) && mod11(id, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2])
}

/** Finland: the number modulo 31 is a letter. */
function hetu(id: string): boolean {
  const digits = id.slice(0, 6) + id.slice(7, 10)
  return dayFirst(id) && '0123456789ABCDEFHJKLMNPRSTUVWXY'[Number(digits) % 31] === id[10]
}

/** Belgium: 97 less the number modulo 97; a 2 before it for those born since 2000. */
function belgian(id: string): boolean {
  const check = Number(id.slice(9))
  const number = Number(id.slice(0, 9))
  return Number(id.slice(2, 4)) <= 12 && [number, number + 2e9].some((each) => 97 - (each % 97) === check)
}

/** Austria: the fourth digit is the check digit. */
function svnr(id: string): boolean {
  return dayFirst(id.slice(4)) && weigh(id, [3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11 === Number(id[3]) && id[0] !== '0'
}

/** Ireland: a letter by the sum modulo 23; a second letter counts nine times. */
function pps(id: string): boolean {
  const second = id.length > 8 ? id.charCodeAt(8) - 64 : 0
  const sum = weigh(id, descending(8, 7)) + (second > 0 && second !== 23 ? 9 * second : 0)
  return 'WABCDEFGHIJKLMNOPQRSTUV'[sum % 23] === id[7]
}

export const europe: readonly National[] = [
  {
    kind: 'uk_nino',
    shape: /(?<!\w)(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D](?!\w)/gi,
    valid: always,
    confidence: 0.8,
    sign: 'AA99|AA 99'
  },
  {
    kind: 'uk_nino',
    shape: /(?<!\w)[A-Z]{2} ?\d\d ?\d\d ?\d\d ?[A-Z](?!\w)/gi,
    valid: always,
    confidence: 0.75,
    near: 'national insurance*|nino|ni no|ni num*'
  },
  {
    kind: 'uk_nhs_number',
    shape: grouped(3, 3, 4),
    valid: (id) => isVaried(id) && mod11(id, descending(10, 9)),
    confidence: 0.96,
    near: 'nhs'
  },
  {
    kind: 'ie_pps',
    shape: edge('\\d{7}[ ]?[A-W][A-IW]?', 'gi'),
    valid: pps,
    confidence: 0.96,
    near: 'pps*|personal public service*'
  },
  {
    kind: 'es_dni',
    shape: /(?<!\w)(?:\d{8}|[XYZ]-?\d{7})-?[A-Z](?!\w)/gi,
    valid: dni,
    confidence: 0.85,
    sign: '9999999'
  },
  {
    kind: 'pt_nif',
    shape: grouped(3, 3, 3),
    valid: (id) => isVaried(id) && mod11(id, descending(9, 8), 0),
    confidence: 0.96,
    near: 'nif|contribuinte|número fiscal'
  },
  {
    kind: 'fr_nir',
    shape: /(?<![\w.-])[12] ?\d\d ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d\d|2[AB]) ?\d{3} ?\d{3} ?\d\d(?![\w-])/gi,
    valid: nir,
    confidence: 0.85,
    sign: '99 99 999|99999999999|9A 999|99999A999'
  },
  {
    kind: 'de_tax_id',
    shape: /(?<![\w.-])\d\d ?\d{3} ?\d{3} ?\d{3}(?![\w-])/g,
    valid: steuerId,
    confidence: 0.85,
    near: 'steuer*|tax id*|idnr|identifikationsnummer'
  },
  {
    kind: 'at_svnr',
    shape: edge('\\d{4} ?\\d{6}'),
    valid: svnr,
    confidence: 0.85,
    near: 'sozialversicherung*|sv-n*|svn*|vsnr|versicherungsnummer'
  },
  {
    kind: 'ch_ahv',
    shape: edge('756\\.\\d{4}\\.\\d{4}\\.\\d\\d|756\\d{10}'),
    valid: (id) => mod10(id, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3]),
    confidence: 0.85,
    sign: '9999'
  },
  {
    kind: 'it_codice_fiscale',
    shape: /(?<!\w)[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z](?!\w)/gi,
    valid: codiceFiscale,
    confidence: 0.95,
    sign: 'AAAAAA99A99A999A'
  },
  {
    kind: 'nl_bsn',
    shape: edge('\\d{9}|\\d{4}[ .]\\d\\d[ .]\\d{3}|\\d{3}[ .]\\d{3}[ .]\\d{3}'),
    valid: (id) => isVaried(id) && (weigh(id, [9, 8, 7, 6, 5, 4, 3, 2]) - Number(id[8])) % 11 === 0,
    confidence: 0.96,
    near: 'bsn|burgerservice*|sofinummer'
  },
  {
    kind: 'be_national_number',
    shape: edge('\\d\\d\\.\\d\\d\\.\\d\\d-\\d{3}\\.\\d\\d'),
    valid: belgian,
    confidence: 0.96,
    sign: '99.99.99-999'
  },
  {
    kind: 'be_national_number',
    shape: grouped(2, 2, 2, 3, 2),
    valid: belgian,
    confidence: 0.85,
    near: 'rijksregister*|registre national|numéro national|national number|insz|niss'
  },
  {
    kind: 'se_personnummer',
    shape: edge('(?:19|20)?\\d{6}[-+]\\d{4}'),
    valid: (id) => yearFirst(id.slice(-10)) && luhnVaried(id.slice(-10)),
    confidence: 0.75,
    sign: '999999-9999'
  },
  {
    kind: 'se_personnummer',
    shape: edge('(?:19|20)?\\d{6}[-+ ]?\\d{4}'),
    valid: (id) => yearFirst(id.slice(-10)) && luhnVaried(id.slice(-10)),
    confidence: 0.96,
    near: 'personnummer*|personal identity number|pnr|samordningsnummer*'
  },
  {
    kind: 'no_fodselsnummer',
    shape: grouped(6, 5),
    valid: fodselsnummer,
    confidence: 0.96,
    near: 'fødselsn*|fodselsn*|personnummer*|national id*'
  },
  { kind: 'dk_cpr', shape: edge('\\d{6}-?\\d{4}'), valid: dayFirst, confidence: 0.85, near: 'cpr*|personnummer*' },
  {
    kind: 'fi_hetu',
    shape: edge('\\d{6}[-+A-FU-Y]\\d{3}[0-9A-Y]', 'g'),
    valid: (_, match) => hetu(match),
    confidence: 0.85,
    sign: '999999'
  },
  {
    kind: 'is_kennitala',
    shape: edge('\\d{6}-?\\d{4}'),
    valid: (id) => dayFirst(id) && mod11(id, [3, 2, 7, 6, 5, 4, 3, 2]),
    confidence: 0.96,
    near: 'kennital*|kt'
  }
]
