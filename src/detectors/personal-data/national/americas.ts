/** National numbers of the Americas. */
import { cnpj, cpf } from '../checksums.js'
import { isDate, isVaried, luhnVaried, mod11, weigh } from './checks.js'
import { always, edge, grouped, type National } from './row.js'

const notFake = (id: string) => !/^(?:000|666|9)|^\d{3}00|0000$|^(?:078051120|219099999|123456789)$/.test(id)

/** Mexico: seventeen characters by weights from 18 down. */
function curp(id: string): boolean {
  const alphabet = '0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ'
  let sum = 0
  for (let i = 0; i < 17; i++) sum += alphabet.indexOf(id[i]!) * (18 - i)
  return isDate(id, 6, 8) && (10 - (sum % 10)) % 10 === Number(id[17])
}

/** Chile: a K where the check digit would be 10. */
function rut(id: string): boolean {
  const body = id.slice(0, -1)
  let sum = 0
  for (let i = 0; i < body.length; i++) sum += Number(body[body.length - 1 - i]) * (2 + (i % 6))
  return '0K987654321'[sum % 11] === id.at(-1) && isVaried(body)
}

export const americas: readonly National[] = [
  {
    kind: 'us_ssn',
    shape: /(?<![\w.-])\d{3}-\d{2}-\d{4}(?![\w-])/g,
    valid: notFake,
    confidence: 0.85,
    sign: '999-99-9999'
  },
  {
    kind: 'us_ssn',
    shape: /(?<![\w.-])\d{3} ?\d{2} ?\d{4}(?![\w-])/g,
    valid: notFake,
    confidence: 0.8,
    near: 'ssn|ssns|social security*'
  },
  {
    kind: 'us_itin',
    shape: edge('9\\d\\d-(?:5\\d|6[0-5]|7\\d|8[0-8]|9[0-24-9])-\\d{4}'),
    valid: always,
    confidence: 0.8,
    sign: '999-99-9999'
  },
  {
    kind: 'us_itin',
    shape: edge('9\\d\\d[ -]?(?:5\\d|6[0-5]|7\\d|8[0-8]|9[0-24-9])[ -]?\\d{4}'),
    valid: always,
    confidence: 0.85,
    near: 'itin|individual taxpayer*|taxpayer identification*'
  },
  {
    kind: 'ca_sin',
    shape: grouped(3, 3, 3),
    valid: luhnVaried,
    confidence: 0.96,
    near: 'sin|social insurance*|assurance sociale|nas'
  },
  {
    kind: 'mx_curp',
    shape: edge('[A-Z]{4}\\d{6}[HMX][A-Z]{5}[A-Z\\d]\\d', 'gi'),
    valid: curp,
    confidence: 0.95,
    sign: 'AAAA999999AAAAAA'
  },
  {
    kind: 'br_cpf',
    shape: /(?<![\w.-])\d{3}\.\d{3}\.\d{3}-\d\d(?![\w-])/g,
    valid: cpf,
    confidence: 0.96,
    sign: '999.999.999-99'
  },
  { kind: 'br_cpf', shape: /(?<![\w.-])\d{11}(?![\w-])/g, valid: cpf, confidence: 0.8, near: 'cpf' },
  {
    kind: 'br_cnpj',
    shape: /(?<![\w.-])\d\d\.\d{3}\.\d{3}\/\d{4}-\d\d(?![\w-])/g,
    valid: cnpj,
    confidence: 0.8,
    sign: '999/9999-99'
  },
  {
    kind: 'ar_cuit',
    shape: edge('(?:20|23|24|25|26|27|30|33|34)-\\d{8}-\\d'),
    valid: (id) => mod11(id, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2], 9),
    confidence: 0.85,
    sign: '99-99999999-9'
  },
  {
    kind: 'ar_cuit',
    shape: grouped(2, 8, 1),
    valid: (id) => mod11(id, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2], 9),
    confidence: 0.96,
    near: 'cuit|cuil'
  },
  {
    kind: 'ar_dni',
    shape: edge('\\d\\d\\.?\\d{3}\\.?\\d{3}'),
    valid: isVaried,
    confidence: 0.75,
    near: 'dni|d.n.i'
  },
  {
    kind: 'cl_rut',
    shape: edge('\\d{1,2}\\.\\d{3}\\.\\d{3}-[\\dkK]'),
    valid: rut,
    confidence: 0.85,
    sign: '.999.999-'
  },
  {
    kind: 'cl_rut',
    shape: edge('\\d{1,2}\\.?\\d{3}\\.?\\d{3}-?[\\dkK]'),
    valid: rut,
    confidence: 0.96,
    near: 'rut|run|r.u.t|r.u.n'
  },
  {
    kind: 'ec_cedula',
    shape: edge('(?:[01]\\d|2[0-4]|30)\\d{8}'),
    valid: luhnVaried,
    confidence: 0.85,
    near: 'cédula|cedula|c.i|ci'
  },
  {
    kind: 'uy_ci',
    shape: edge('\\d\\.\\d{3}\\.\\d{3}-\\d'),
    valid: (id) => (10 - (weigh(id, [2, 9, 8, 7, 6, 3, 4]) % 10)) % 10 === Number(id[7]),
    confidence: 0.75,
    sign: '9.999.999-9'
  },
  {
    kind: 'co_cedula',
    shape: edge('\\d{1,4}(?:\\.\\d{3}){2}|\\d{6,10}'),
    valid: isVaried,
    confidence: 0.75,
    near: 'cédula de ciudadanía|cedula de ciudadania|c.c'
  }
]
