/** National numbers of Asia, Africa and Oceania. */
import { luhn, residentId, verhoeff } from '../checksums.js'
import { isDate, isVaried, luhnVaried, mod11, weigh, yearFirst } from './checks.js'
import { always, edge, grouped, type National } from './row.js'

/** Turkey: two check digits. */
function kimlik(id: string): boolean {
  const odd = weigh(id, [1, 0, 1, 0, 1, 0, 1, 0, 1])
  const even = weigh(id, [0, 1, 0, 1, 0, 1, 0, 1])
  const first = (((odd * 7 - even) % 10) + 10) % 10
  return first === Number(id[9]) && (odd + even + first) % 10 === Number(id[10]) && isVaried(id)
}

/** South Korea: the sexes and centuries by the seventh digit. */
const rrn = (id: string) =>
  yearFirst(id) && (11 - (weigh(id, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11)) % 10 === Number(id[12])

/** Taiwan: the letter stands for two digits. */
function taiwan(id: string): boolean {
  const number = 'ABCDEFGHJKLMNPQRSTUVXYWZIO'.indexOf(id[0]!) + 10
  const sum = Math.trunc(number / 10) + 9 * (number % 10) + weigh(id, [8, 7, 6, 5, 4, 3, 2, 1, 1], 1)
  return sum % 10 === 0
}

/** Hong Kong: letters count from 10, a missing first one as 36. */
function hongKong(id: string): boolean {
  const letters = id.length === 9 ? [id.charCodeAt(0) - 55, id.charCodeAt(1) - 55] : [36, id.charCodeAt(0) - 55]
  const digits = id.slice(id.length - 7)
  const check = digits[6] === 'A' ? 10 : Number(digits[6])
  return (9 * letters[0]! + 8 * letters[1]! + weigh(digits, [7, 6, 5, 4, 3, 2]) + check) % 11 === 0
}

/** Singapore: letters by the sum modulo 11, in another order for each series. */
function nric(id: string): boolean {
  const sum = weigh(id, [2, 7, 6, 5, 4, 3, 2], 1)
  const [table, add] = 'ST'.includes(id[0]!)
    ? ['JZIHGFEDCBA', 0]
    : id[0] === 'M'
      ? ['XWUTRQPNJLK', 3]
      : ['XWUTRQPNMLK', 0]
  const place = (sum + add + ('TG'.includes(id[0]!) ? 4 : 0)) % 11
  return table[id[0] === 'M' ? 10 - place : place] === id[8]
}

const thai = (id: string) => (11 - (weigh(id, [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 10 === Number(id[12])

/** Japan: a check digit of 10 or 11 is 0. */
const myNumber = (id: string) => isVaried(id) && mod11(id, [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2], 0)

/** New Zealand: other weights where the first give 10. */
function ird(id: string): boolean {
  const digits = id.padStart(9, '0')
  const first = weigh(digits, [3, 2, 7, 6, 5, 4, 3, 2]) % 11
  return mod11(digits, first === 1 ? [7, 4, 3, 2, 5, 2, 7, 6] : [3, 2, 7, 6, 5, 4, 3, 2]) && isVaried(id)
}

export const asia: readonly National[] = [
  {
    kind: 'cn_resident_id',
    shape: /(?<!\w)[1-8]\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dX](?!\w)/gi,
    valid: residentId,
    confidence: 0.96,
    sign: '99999999999999999'
  },
  {
    kind: 'hk_id',
    shape: edge('[A-Z]{1,2}\\d{6}\\([\\dA]\\)', 'g'),
    valid: hongKong,
    confidence: 0.85,
    sign: 'A999999('
  },
  {
    kind: 'hk_id',
    shape: edge('[A-Z]{1,2}\\d{6}\\(?[\\dA]', 'g'),
    valid: hongKong,
    confidence: 0.85,
    near: 'hkid*|hong kong id*|香港身份'
  },
  {
    kind: 'tw_id',
    shape: edge('[A-Z][12]\\d{8}', 'g'),
    valid: taiwan,
    confidence: 0.96,
    near: '身分證|身份證|統一編號|taiwan*|national id*'
  },
  { kind: 'kr_rrn', shape: edge('\\d{6}-[1-8]\\d{6}'), valid: rrn, confidence: 0.85, sign: '999999-9999999' },
  {
    kind: 'kr_rrn',
    shape: edge('\\d{6}-?[1-8]\\d{6}'),
    valid: yearFirst,
    confidence: 0.85,
    near: '주민|외국인등록|resident registration|rrn'
  },
  {
    kind: 'jp_my_number',
    shape: grouped(4, 4, 4),
    valid: myNumber,
    confidence: 0.96,
    near: 'マイナンバー|個人番号|my number'
  },
  {
    kind: 'in_aadhaar',
    shape: /(?<![\w.-])[2-9]\d{3} \d{4} \d{4}(?![\w-]| \d)/g,
    valid: verhoeff,
    confidence: 0.65,
    sign: '9999 9999 9999'
  },
  {
    kind: 'in_aadhaar',
    shape: /(?<![\w.-])[2-9]\d{3}[ -]?\d{4}[ -]?\d{4}(?![\w-])/g,
    valid: verhoeff,
    confidence: 0.96,
    near: 'aadhaar*|uidai|आधार'
  },
  {
    kind: 'in_pan',
    shape: edge('[A-Z]{3}[ABCFGHJLPT][A-Z]\\d{4}[A-Z]', 'gi'),
    valid: always,
    confidence: 0.96,
    near: 'pan|permanent account*'
  },
  { kind: 'in_pan', shape: edge('[A-Z]{3}P[A-Z]\\d{4}[A-Z]', 'g'), valid: always, confidence: 0.6, sign: 'AAAAA9999A' },
  {
    kind: 'pk_cnic',
    shape: edge('[1-7]\\d{4}-\\d{7}-\\d'),
    valid: isVaried,
    confidence: 0.75,
    sign: '99999-9999999-9'
  },
  { kind: 'sg_nric', shape: edge('[STFGM]\\d{7}[A-Z]', 'g'), valid: nric, confidence: 0.85, sign: 'A9999999A' },
  {
    kind: 'my_nric',
    shape: edge('\\d{6}-?\\d\\d-?\\d{4}'),
    valid: yearFirst,
    confidence: 0.85,
    near: 'mykad|nric|no kp|no. kp|no.kp|ic no|ic num*|kad pengenalan'
  },
  {
    kind: 'th_id',
    shape: edge('\\d-\\d{4}-\\d{5}-\\d\\d-\\d'),
    valid: thai,
    confidence: 0.96,
    sign: '9-9999-99999-99-9'
  },
  {
    kind: 'th_id',
    shape: grouped(1, 4, 5, 2, 1),
    valid: thai,
    confidence: 0.96,
    near: 'ประจำตัวประชาชน|thai id*|thai national*'
  },
  {
    kind: 'id_nik',
    shape: edge('\\d{16}'),
    valid: (id) => isDate(`${Number(id.slice(6, 8)) % 40}`.padStart(2, '0') + id.slice(8, 10), 2, 0),
    confidence: 0.85,
    near: 'nik|ktp|nomor induk'
  },
  {
    kind: 'ph_philsys',
    shape: grouped(4, 4, 4, 4),
    valid: isVaried,
    confidence: 0.75,
    near: 'philsys|psn|national id*'
  },
  { kind: 'vn_cccd', shape: edge('0\\d{11}'), valid: isVaried, confidence: 0.8, near: 'cccd|căn cước|cmnd' },
  {
    kind: 'tr_kimlik',
    shape: edge('[1-9]\\d{10}'),
    valid: kimlik,
    confidence: 0.96,
    near: 'kimlik*|tckn|tc no|t.c. no'
  },
  {
    kind: 'il_id',
    shape: edge('\\d{8}-?\\d'),
    valid: luhnVaried,
    confidence: 0.85,
    near: 'ת.ז|תז|מספר זהות|teudat zehut|israeli id*'
  },
  {
    kind: 'ae_emirates_id',
    shape: edge('784-(?:19|20)\\d\\d-\\d{7}-\\d'),
    valid: always,
    confidence: 0.96,
    sign: '999-9999-9999999-9'
  },
  {
    kind: 'ae_emirates_id',
    shape: edge('784(?:19|20)\\d{10}'),
    valid: luhn,
    confidence: 0.96,
    near: 'emirates id*|الهوية'
  },
  {
    kind: 'sa_national_id',
    shape: edge('[12]\\d{9}'),
    valid: luhnVaried,
    confidence: 0.85,
    near: 'iqama|الهوية|saudi id|saudi national id|الإقامة'
  },
  {
    kind: 'eg_national_id',
    shape: edge('[23]\\d{13}'),
    valid: (id) => isDate(id, 3, 5),
    confidence: 0.85,
    near: 'الرقم القومي|egyptian*|national id*'
  },
  {
    kind: 'za_id',
    shape: grouped(6, 4, 3),
    valid: (id) => yearFirst(id) && /[01]\d\d$/.test(id) && luhn(id),
    confidence: 0.96,
    near: 'south africa*|sa id|rsa id|id number*|id no|identity number*'
  },
  {
    kind: 'ng_nin',
    shape: edge('\\d{11}'),
    valid: isVaried,
    confidence: 0.8,
    near: 'nin|national identification number|bvn'
  },
  {
    kind: 'au_tfn',
    shape: grouped(3, 3, 3),
    valid: (id) => isVaried(id) && weigh(id, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0,
    confidence: 0.96,
    near: 'tfn|tax file*'
  },
  {
    kind: 'au_medicare',
    shape: edge('[2-6]\\d{3} ?\\d{5} ?\\d(?:[ /-]?\\d)?'),
    valid: (id) => weigh(id, [1, 3, 7, 9, 1, 3, 7, 9]) % 10 === Number(id[8]),
    confidence: 0.96,
    near: 'medicare*'
  },
  {
    kind: 'nz_ird',
    shape: edge('\\d{2,3}[ -]?\\d{3}[ -]?\\d{3}'),
    valid: ird,
    confidence: 0.96,
    near: 'ird|inland revenue*'
  }
]
