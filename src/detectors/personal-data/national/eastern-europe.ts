/** National numbers of eastern Europe, the Baltics, the Balkans, and the countries of the former Soviet Union. */
import { pesel } from '../checksums.js'
import {
  dayFirst,
  isDate,
  iso11And10,
  isVaried,
  luhnVaried,
  mod11,
  rest11,
  twoRows,
  weigh,
  yearFirst
} from './checks.js'
import { edge, grouped, type National } from './row.js'

const descending = (from: number, count: number) => Array.from({ length: count }, (_, i) => from - i)

const ascending = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

const baltic = (id: string) => isDate(id, 3, 5) && twoRows(id, [...ascending(9), 1], [3, 4, 5, 6, 7, 8, 9, 1, 2, 3])

/** Czech Republic and Slovakia: ten digits are a multiple of 11; the months of women are 50 more. */
function rodneCislo(id: string): boolean {
  const month = Number(id.slice(2, 4)) % 50
  const isBorn = month >= 1 && month <= 32 && (month <= 12 || month > 20) && Number(id.slice(4, 6)) <= 31
  return isBorn && (Number(id) % 11 === 0 || (Number(id.slice(0, 9)) % 11 === 10 && id.endsWith('0')))
}

/** Countries of former Yugoslavia. */
function jmbg(id: string): boolean {
  const year = id.slice(4, 7)
  return dayFirst(id) && (year > '899' || year < '030') && mod11(id, [7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2])
}

/** Bulgaria: months of the 19th and 21st century are 20 and 40 more. */
function egn(id: string): boolean {
  const month = Number(id.slice(2, 4)) % 20
  return month >= 1 && month <= 12 && Number(id.slice(4, 6)) <= 31 && rest11(id, [2, 4, 8, 5, 10, 9, 7, 3, 6])
}

/** Russia: the sum modulo 101, in two digits. */
function snils(id: string): boolean {
  return (weigh(id, descending(9, 9)) % 101) % 100 === Number(id.slice(9)) && isVaried(id.slice(0, 9))
}

export const easternEurope: readonly National[] = [
  { kind: 'pl_pesel', shape: /(?<![\w.-])\d{11}(?![\w-])/g, valid: pesel, confidence: 0.85, near: 'pesel*' },
  { kind: 'cz_rodne_cislo', shape: edge('\\d{6}/\\d{4}'), valid: rodneCislo, confidence: 0.75, sign: '999999/9999' },
  {
    kind: 'cz_rodne_cislo',
    shape: edge('\\d{6}/?\\d{3,4}'),
    valid: (id) => id.length === 9 || rodneCislo(id),
    confidence: 0.96,
    near: 'rodné číslo|rodne cislo|rč|rc'
  },
  {
    kind: 'hu_taj',
    shape: grouped(3, 3, 3),
    valid: (id) => isVaried(id) && weigh(id, [3, 7, 3, 7, 3, 7, 3, 7]) % 10 === Number(id[8]),
    confidence: 0.96,
    near: 'taj*'
  },
  {
    kind: 'ro_cnp',
    shape: edge('[1-8]\\d{12}'),
    valid: (id) => isDate(id, 3, 5) && rest11(id, [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9], 1),
    confidence: 0.96,
    near: 'cnp|cod numeric|codul numeric'
  },
  { kind: 'bg_egn', shape: edge('\\d{10}'), valid: egn, confidence: 0.96, near: 'егн|egn' },
  {
    kind: 'gr_amka',
    shape: edge('\\d{11}'),
    valid: (id) => dayFirst(id) && luhnVaried(id),
    confidence: 0.96,
    near: 'αμκα|amka'
  },
  {
    kind: 'hr_oib',
    shape: edge('\\d{11}'),
    valid: (id) => isVaried(id) && iso11And10(id),
    confidence: 0.96,
    near: 'oib'
  },
  {
    kind: 'rs_jmbg',
    shape: edge('\\d{13}'),
    valid: jmbg,
    confidence: 0.96,
    near: 'jmbg|јмбг|emšo|emso|емшо|матични број|matični broj'
  },
  {
    kind: 'ee_isikukood',
    shape: edge('[1-8]\\d{10}'),
    valid: baltic,
    confidence: 0.96,
    near: 'isikukood*|personal code'
  },
  { kind: 'lt_asmens_kodas', shape: edge('[1-8]\\d{10}'), valid: baltic, confidence: 0.96, near: 'asmens kod*' },
  {
    kind: 'lv_personas_kods',
    shape: edge('\\d{6}-?\\d{5}'),
    valid: (id) => dayFirst(id) || id.startsWith('32'),
    confidence: 0.85,
    near: 'personas kod*'
  },
  {
    kind: 'ua_rnokpp',
    shape: edge('\\d{10}'),
    valid: (id) => (((weigh(id, [-1, 5, 7, 9, 4, 6, 10, 5, 7]) % 11) + 11) % 11) % 10 === Number(id[9]),
    confidence: 0.96,
    near: 'рнокпп|іпн|ідентифікаційн*|rnokpp'
  },
  {
    kind: 'ru_snils',
    shape: edge('\\d{3}-\\d{3}-\\d{3}[ -]\\d\\d'),
    valid: snils,
    confidence: 0.85,
    sign: '999-999-999'
  },
  { kind: 'ru_snils', shape: grouped(3, 3, 3, 2), valid: snils, confidence: 0.96, near: 'снилс|snils' },
  {
    kind: 'ru_inn',
    shape: edge('\\d{12}'),
    valid: (id) =>
      (weigh(id, [7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11) % 10 === Number(id[10]) &&
      (weigh(id, [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11) % 10 === Number(id[11]),
    confidence: 0.96,
    near: 'инн|inn'
  },
  {
    kind: 'kz_iin',
    shape: edge('\\d{12}'),
    valid: (id) => yearFirst(id) && twoRows(id, ascending(11), [3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2]),
    confidence: 0.96,
    near: 'иин|жсн|iin'
  }
]
