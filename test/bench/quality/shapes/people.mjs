// Numbers and addresses of people who do not exist, each with the check digits that its issuer documents.
const two = (n) => String(n).padStart(2, '0')
const sum = (digits, weights) => weights.reduce((s, w, i) => s + w * Number(digits[i]), 0)
const luhnDigit = (digits) => {
  let s = 0
  for (let i = 0; i < digits.length; i++) {
    let d = Number(digits[digits.length - 1 - i])
    if (i % 2 === 0) d = d > 4 ? d * 2 - 9 : d * 2
    s += d
  }
  return String((10 - (s % 10)) % 10)
}
const day = (r) => ({ y: r.int(1945, 2004), m: r.int(1, 12), d: r.int(1, 28) })
const yymmdd = ({ y, m, d }) => `${two(y % 100)}${two(m)}${two(d)}`
const ddmmyy = ({ y, m, d }) => `${two(d)}${two(m)}${two(y % 100)}`
/** Draws until the function gives a value. */
const until = (make) => {
  for (;;) {
    const value = make()
    if (value !== undefined) return value
  }
}
const iso11_10 = (digits) => {
  let p = 10
  for (const c of digits) {
    const s = (Number(c) + p) % 10 || 10
    p = (s * 2) % 11
  }
  return String((11 - p) % 10)
}

/** By kind of the detectors, a function from a random source to a number. */
export const numbers = {
  us_ssn: (r) => `${r.pick(['219', '412', '536', '601'])}-${r.int(10, 98)}-${r.int(1000, 9998)}`,
  us_itin: (r) => `9${r.digits(2)}-${r.int(70, 88)}-${r.digits(4)}`,
  ca_sin: (r) => {
    const b = r.pick('1245679') + r.digits(7)
    const s = b + luhnDigit(b)
    return r.pick([
      `${s.slice(0, 3)} ${s.slice(3, 6)} ${s.slice(6)}`,
      `${s.slice(0, 3)}-${s.slice(3, 6)}-${s.slice(6)}`
    ])
  },
  mx_curp: (r) => {
    const t = day(r)
    const b = `${r.of('BCDFGHJKLM', 1)}${r.of('AEIOU', 1)}${r.upper(2)}${yymmdd(t)}${r.pick('HM')}${r.pick(['DF', 'JC', 'NL', 'MC'])}${r.of('BCDFGHJKLMNPQRSTVWXYZ', 3)}${t.y < 2000 ? r.digits(1) : r.of('ABC', 1)}`
    const alphabet = '0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ'
    const s = [...b].reduce((n, c, i) => n + alphabet.indexOf(c) * (18 - i), 0)
    return b + String((10 - (s % 10)) % 10)
  },
  br_cpf: (r) => {
    const b = r.digits(9)
    const c = (d) => {
      const x =
        (sum(
          d,
          Array.from({ length: d.length }, (_, i) => d.length + 1 - i)
        ) *
          10) %
        11
      return String(x === 10 ? 0 : x)
    }
    const f = b + c(b)
    const s = f + c(f)
    return `${s.slice(0, 3)}.${s.slice(3, 6)}.${s.slice(6, 9)}-${s.slice(9)}`
  },
  ar_cuit: (r) =>
    until(() => {
      const b = r.pick(['20', '23', '27']) + r.digits(8)
      const c = 11 - (sum(b, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11)
      return c === 10 ? undefined : `${b.slice(0, 2)}-${b.slice(2)}-${c === 11 ? 0 : c}`
    }),
  cl_rut: (r) => {
    const b = String(r.int(5_000_000, 24_000_000))
    let s = 0
    for (let i = 0; i < b.length; i++) s += Number(b[b.length - 1 - i]) * (2 + (i % 6))
    const c = 11 - (s % 11)
    return `${b.replace(/\B(?=(\d{3})+$)/g, '.')}-${c === 11 ? '0' : c === 10 ? 'K' : c}`
  },
  ec_cedula: (r) => {
    const b = two(r.int(1, 24)) + r.int(0, 5) + r.digits(6)
    return b + luhnDigit(b)
  },
  uk_nino: (r) =>
    `${r.of('ABCEGHJ', 1)}${r.of('ABCEGHJ', 1).replace('B', 'C')} ${r.digits(2)} ${r.digits(2)} ${r.digits(2)} ${r.pick('ABCD')}`.replace(
      /^GB/,
      'GA'
    ),
  uk_nhs_number: (r) =>
    until(() => {
      const b = r.pick('469') + r.digits(8)
      const c = 11 - (sum(b, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)
      return c === 10 ? undefined : `${b.slice(0, 3)} ${b.slice(3, 6)} ${b.slice(6)}${c === 11 ? 0 : c}`
    }),
  ie_pps: (r) => {
    const b = r.digits(7)
    return `${b}${'WABCDEFGHIJKLMNOPQRSTUV'[sum(b, [8, 7, 6, 5, 4, 3, 2]) % 23]}`
  },
  es_dni: (r) => {
    const b = String(r.int(10_000_000, 79_999_999))
    return b + 'TRWAGMYFPDXBNJZSQVHLCKE'[Number(b) % 23]
  },
  pt_nif: (r) => {
    const b = r.pick('123') + r.digits(7)
    const x = sum(b, [9, 8, 7, 6, 5, 4, 3, 2]) % 11
    return b + (x < 2 ? 0 : 11 - x)
  },
  fr_nir: (r) => {
    const b = `${r.pick('12')}${two(r.int(40, 99))}${two(r.int(1, 12))}${two(r.int(1, 95)).replace('20', '21')}${r.digits(6)}`
    const k = two(97 - Number(BigInt(b) % 97n))
    return `${b[0]} ${b.slice(1, 3)} ${b.slice(3, 5)} ${b.slice(5, 7)} ${b.slice(7, 10)} ${b.slice(10, 13)} ${k}`
  },
  de_tax_id: (r) => {
    const b = r.pick('123456789') + r.digits(9)
    const s = b + iso11_10(b)
    return r.pick([s, `${s.slice(0, 2)} ${s.slice(2, 5)} ${s.slice(5, 8)} ${s.slice(8)}`])
  },
  at_svnr: (r) =>
    until(() => {
      const n = r.int(1, 9) + r.digits(2)
      const t = ddmmyy(day(r))
      const c = sum(n + t, [3, 7, 9, 5, 8, 4, 2, 1, 6]) % 11
      return c === 10 ? undefined : `${n}${c} ${t}`
    }),
  ch_ahv: (r) => {
    const b = `756${r.digits(9)}`
    const c = (10 - (sum(b, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3]) % 10)) % 10
    const s = b + c
    return `${s.slice(0, 3)}.${s.slice(3, 7)}.${s.slice(7, 11)}.${s.slice(11)}`
  },
  it_codice_fiscale: (r) => {
    const t = day(r)
    const b = `${r.of('BCDFGHLMNPRSTVZ', 6)}${two(t.y % 100)}${'ABCDEHLMPRST'[t.m - 1]}${two(t.d + (r.int(0, 1) ? 40 : 0))}${r.pick('ABCDEFGHL')}${r.digits(3)}`
    const odd = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23]
    let s = 0
    for (let i = 0; i < 15; i++) {
      const v = b.charCodeAt(i) > 57 ? b.charCodeAt(i) - 65 : b.charCodeAt(i) - 48
      s += i % 2 === 0 ? odd[v] : v
    }
    return b + String.fromCharCode(65 + (s % 26))
  },
  nl_bsn: (r) =>
    until(() => {
      const b = r.int(1, 8) + r.digits(7)
      const c = sum(b, [9, 8, 7, 6, 5, 4, 3, 2]) % 11
      return c === 10 ? undefined : b + c
    }),
  be_national_number: (r) => {
    const t = day(r)
    const b = yymmdd(t) + r.int(1, 997).toString().padStart(3, '0')
    const c = two(97 - (Number(t.y > 1999 ? `2${b}` : b) % 97))
    return `${b.slice(0, 2)}.${b.slice(2, 4)}.${b.slice(4, 6)}-${b.slice(6)}.${c}`
  },
  se_personnummer: (r) => {
    const b = yymmdd(day(r)) + r.digits(3)
    const s = b + luhnDigit(b)
    return `${r.pick(['', '19'])}${s.slice(0, 6)}-${s.slice(6)}`
  },
  no_fodselsnummer: (r) =>
    until(() => {
      const b = ddmmyy(day(r)) + r.digits(3)
      const a = (11 - (sum(b, [3, 7, 6, 1, 8, 9, 4, 5, 2]) % 11)) % 11
      const c = (11 - (sum(b + a, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 11
      return a === 10 || c === 10 ? undefined : `${b.slice(0, 6)} ${b.slice(6)}${a}${c}`
    }),
  dk_cpr: (r) => `${ddmmyy(day(r))}-${r.digits(4)}`,
  fi_hetu: (r) => {
    const t = day(r)
    const n = String(r.int(2, 899)).padStart(3, '0')
    return `${ddmmyy(t)}${t.y > 1999 ? 'A' : '-'}${n}${'0123456789ABCDEFHJKLMNPRSTUVWXY'[Number(ddmmyy(t) + n) % 31]}`
  },
  is_kennitala: (r) =>
    until(() => {
      const t = day(r)
      const b = ddmmyy(t) + r.int(20, 99)
      const c = (11 - (sum(b, [3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 11
      return c === 10 ? undefined : `${b.slice(0, 6)}-${b.slice(6)}${c}${t.y > 1999 ? 0 : 9}`
    }),
  pl_pesel: (r) => {
    const t = day(r)
    const b = `${two(t.y % 100)}${two(t.m + (t.y > 1999 ? 20 : 0))}${two(t.d)}${r.digits(4)}`
    return b + ((10 - (sum(b, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10)) % 10)
  },
  cz_rodne_cislo: (r) =>
    until(() => {
      const t = day(r)
      const b = `${two(t.y % 100)}${two(t.m + (r.int(0, 1) ? 50 : 0))}${two(t.d)}${r.digits(3)}`
      const c = Number(b) % 11
      return c === 10 ? undefined : `${b.slice(0, 6)}/${b.slice(6)}${c}`
    }),
  hu_taj: (r) => {
    const b = r.digits(8)
    const s = b + (sum(b, [3, 7, 3, 7, 3, 7, 3, 7]) % 10)
    return `${s.slice(0, 3)} ${s.slice(3, 6)} ${s.slice(6)}`
  },
  ro_cnp: (r) => {
    const t = day(r)
    const b = `${t.y > 1999 ? r.pick('56') : r.pick('12')}${yymmdd(t)}${two(r.int(1, 46))}${r.digits(3)}`
    const c = sum(b, [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11
    return b + (c === 10 ? 1 : c)
  },
  bg_egn: (r) => {
    const t = day(r)
    const b = `${two(t.y % 100)}${two(t.m + (t.y > 1999 ? 40 : 0))}${two(t.d)}${r.digits(3)}`
    return b + ((sum(b, [2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11) % 10)
  },
  gr_amka: (r) => {
    const b = ddmmyy(day(r)) + r.digits(4)
    return b + luhnDigit(b)
  },
  hr_oib: (r) => {
    const b = r.digits(10)
    return b + iso11_10(b)
  },
  rs_jmbg: (r) =>
    until(() => {
      const t = day(r)
      const b = `${two(t.d)}${two(t.m)}${String(t.y).slice(1)}${r.pick(['71', '50', '10', '33'])}${r.digits(3)}`
      const c = 11 - (sum(b, [7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11)
      return c === 10 ? undefined : b + (c === 11 ? 0 : c)
    }),
  ee_isikukood: (r) => {
    const t = day(r)
    const b = `${t.y > 1999 ? r.pick('56') : r.pick('34')}${yymmdd(t)}${r.digits(3)}`
    let c = sum(b, [1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11
    if (c === 10) c = (sum(b, [3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11) % 10
    return b + c
  },
  lt_asmens_kodas: (r) => numbers.ee_isikukood(r),
  ua_rnokpp: (r) => {
    const b = String(r.int(20000, 38000)) + r.digits(4)
    return b + ((sum(b, [-1, 5, 7, 9, 4, 6, 10, 5, 7]) % 11) % 10)
  },
  ru_snils: (r) => {
    const b = String(r.int(100_000_000, 199_999_999))
    let c = sum(b, [9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101
    if (c === 100) c = 0
    return `${b.slice(0, 3)}-${b.slice(3, 6)}-${b.slice(6)} ${two(c)}`
  },
  tr_kimlik: (r) => {
    const b = r.pick('123456789') + r.digits(8)
    const d = [...b].map(Number)
    const a = ((((d[0] + d[2] + d[4] + d[6] + d[8]) * 7 - (d[1] + d[3] + d[5] + d[7])) % 10) + 10) % 10
    return b + a + ((d.reduce((x, y) => x + y) + a) % 10)
  },
  il_id: (r) => {
    const b = r.digits(8)
    let s = 0
    for (let i = 0; i < 8; i++) {
      const v = Number(b[i]) * (1 + (i % 2))
      s += v > 9 ? v - 9 : v
    }
    return b + ((10 - (s % 10)) % 10)
  },
  ae_emirates_id: (r) => {
    const b = `784${r.int(1950, 2004)}${r.digits(7)}`
    return `784-${b.slice(3, 7)}-${b.slice(7)}-${luhnDigit(b)}`
  },
  za_id: (r) => {
    const b = `${yymmdd(day(r))}${r.digits(4)}08`
    return b + luhnDigit(b)
  },
  in_aadhaar: (r) => {
    const D = [
      '0123456789',
      '1234067895',
      '2340178956',
      '3401289567',
      '4012395678',
      '5987604321',
      '6598710432',
      '7659821043',
      '8765932104',
      '9876543210'
    ]
    const P = [
      '0123456789',
      '1576283094',
      '5803796142',
      '8916043527',
      '9453126870',
      '4286573901',
      '2793806415',
      '7046913258'
    ]
    const b = r.pick('23456789') + r.digits(10)
    for (let c = 0; c < 10; c++) {
      const s = b + c
      let k = 0
      for (let i = 0; i < 12; i++) k = Number(D[k][Number(P[i % 8][Number(s[11 - i])])])
      if (k === 0) return `${s.slice(0, 4)} ${s.slice(4, 8)} ${s.slice(8)}`
    }
  },
  in_pan: (r) => `${r.upper(3)}P${r.upper(1)}${r.digits(4)}${r.upper(1)}`,
  cn_resident_id: (r) => {
    const t = day(r)
    const b = `${r.pick(['110105', '310104', '440305', '510107'])}${t.y}${two(t.m)}${two(t.d)}${r.digits(3)}`
    return b + '10X98765432'[sum(b, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11]
  },
  kr_rrn: (r) => {
    const t = day(r)
    const b = `${yymmdd(t)}${t.y > 1999 ? r.pick('34') : r.pick('12')}${r.digits(5)}`
    const c = (11 - (sum(b, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11)) % 10
    return `${b.slice(0, 6)}-${b.slice(6)}${c}`
  },
  jp_my_number: (r) => {
    const b = r.digits(11)
    const x = sum(b, [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11
    const s = b + (x < 2 ? 0 : 11 - x)
    return r.pick([s, `${s.slice(0, 4)} ${s.slice(4, 8)} ${s.slice(8)}`])
  },
  tw_id: (r) => {
    const letters = 'ABCDEFGHJKLMNPQRSTUVXYWZIO'
    const l = r.pick(letters)
    const n = String(letters.indexOf(l) + 10)
    const b = r.pick('12') + r.digits(7)
    const s = Number(n[0]) + 9 * Number(n[1]) + sum(b, [8, 7, 6, 5, 4, 3, 2, 1])
    return l + b + ((10 - (s % 10)) % 10)
  },
  hk_id: (r) => {
    const l = r.pick('ABCDEGHKMPRVYZ')
    const b = r.digits(6)
    const s = 36 * 9 + (l.charCodeAt(0) - 55) * 8 + sum(b, [7, 6, 5, 4, 3, 2])
    const c = (11 - (s % 11)) % 11
    return `${l}${b}(${c === 10 ? 'A' : c})`
  },
  sg_nric: (r) => {
    const l = r.pick('ST')
    const b = r.digits(7)
    return `${l}${b}${'JZIHGFEDCBA'[(sum(b, [2, 7, 6, 5, 4, 3, 2]) + (l === 'T' ? 4 : 0)) % 11]}`
  },
  th_id: (r) => {
    const b = r.pick('1234') + r.digits(11)
    const s = b + ((11 - (sum(b, [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 10)
    return `${s[0]}-${s.slice(1, 5)}-${s.slice(5, 10)}-${s.slice(10, 12)}-${s[12]}`
  },
  my_nric: (r) => `${yymmdd(day(r))}-${r.pick(['01', '07', '10', '14'])}-${r.digits(4)}`,
  au_tfn: (r) =>
    until(() => {
      const b = r.int(1, 9) + r.digits(8)
      return sum(b, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0
        ? `${b.slice(0, 3)} ${b.slice(3, 6)} ${b.slice(6)}`
        : undefined
    }),
  au_medicare: (r) => {
    const b = r.pick('23456') + r.digits(7)
    const s = `${b}${sum(b, [1, 3, 7, 9, 1, 3, 7, 9]) % 10}${r.int(1, 9)}`
    return `${s.slice(0, 4)} ${s.slice(4, 9)} ${s.slice(9)}`
  },
  nz_ird: (r) =>
    until(() => {
      const b = String(r.int(10_000_000, 14_999_999))
      const w = (weights) => (11 - (sum(`0${b.slice(0, 7)}`, weights) % 11)) % 11
      let c = w([3, 2, 7, 6, 5, 4, 3, 2])
      if (c === 10) c = w([7, 4, 3, 2, 5, 2, 7, 6])
      return c === 10 ? undefined : `${b.slice(0, 2)}-${b.slice(2, 5)}-${b.slice(5, 7)}${c}`
    }),
  kz_iin: (r) =>
    until(() => {
      const t = day(r)
      const b = `${yymmdd(t)}${t.y > 1999 ? r.pick('56') : r.pick('34')}${r.digits(4)}`
      let c = sum(b, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) % 11
      if (c === 10) c = sum(b, [3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2]) % 11
      return c === 10 ? undefined : b + c
    })
}

/** How people say what a number is, in the language of its country. */
export const namesOf = {
  us_ssn: ['SSN', 'Social Security number'],
  us_itin: ['ITIN', 'taxpayer identification number'],
  ca_sin: ['SIN', 'social insurance number'],
  mx_curp: ['CURP'],
  br_cpf: ['CPF'],
  ar_cuit: ['CUIT', 'CUIL'],
  cl_rut: ['RUT', 'RUN'],
  ec_cedula: ['cédula'],
  uk_nino: ['National Insurance number', 'NI number'],
  uk_nhs_number: ['NHS number', 'NHS no'],
  ie_pps: ['PPS number', 'PPSN'],
  es_dni: ['DNI'],
  pt_nif: ['NIF', 'contribuinte'],
  fr_nir: ['numéro de sécurité sociale', 'NIR'],
  de_tax_id: ['Steuer-ID', 'Steueridentifikationsnummer'],
  at_svnr: ['Sozialversicherungsnummer', 'SV-Nummer'],
  ch_ahv: ['AHV-Nummer', 'numéro AVS'],
  it_codice_fiscale: ['codice fiscale'],
  nl_bsn: ['BSN', 'burgerservicenummer'],
  be_national_number: ['rijksregisternummer', 'numéro de registre national'],
  se_personnummer: ['personnummer'],
  no_fodselsnummer: ['fødselsnummer'],
  dk_cpr: ['CPR-nummer', 'CPR'],
  fi_hetu: ['henkilötunnus', 'HETU'],
  is_kennitala: ['kennitala'],
  pl_pesel: ['PESEL', 'numer PESEL'],
  cz_rodne_cislo: ['rodné číslo', 'RČ'],
  hu_taj: ['TAJ szám', 'TAJ'],
  ro_cnp: ['CNP'],
  bg_egn: ['ЕГН'],
  gr_amka: ['ΑΜΚΑ', 'AMKA'],
  hr_oib: ['OIB'],
  rs_jmbg: ['JMBG'],
  ee_isikukood: ['isikukood'],
  lt_asmens_kodas: ['asmens kodas'],
  ua_rnokpp: ['РНОКПП', 'ІПН'],
  ru_snils: ['СНИЛС'],
  tr_kimlik: ['TC kimlik no', 'T.C. Kimlik Numarası'],
  il_id: ['מספר זהות', 'Israeli ID', 'teudat zehut'],
  ae_emirates_id: ['Emirates ID'],
  za_id: ['South African ID number', 'SA ID'],
  in_aadhaar: ['Aadhaar'],
  in_pan: ['PAN', 'PAN card'],
  cn_resident_id: ['身份证号', '身份证'],
  kr_rrn: ['주민등록번호'],
  jp_my_number: ['マイナンバー', 'My Number'],
  tw_id: ['身分證字號'],
  hk_id: ['HKID'],
  sg_nric: ['NRIC'],
  th_id: ['เลขประจำตัวประชาชน', 'Thai ID'],
  my_nric: ['MyKad', 'NRIC', 'No. KP'],
  au_tfn: ['TFN', 'tax file number'],
  au_medicare: ['Medicare number', 'Medicare card'],
  nz_ird: ['IRD number', 'IRD'],
  kz_iin: ['ИИН']
}

const mod97 = (s) => {
  let n = 0
  for (const c of s) n = (n * (Number.parseInt(c, 36) > 9 ? 100 : 10) + Number.parseInt(c, 36)) % 97
  return n
}
const firsts = ['Maya', 'Jonas', 'Aiko', 'Priya', 'Luis', 'Zofia', 'Kwame', 'Elena', 'Omar', 'Ingrid', 'Tomás', 'Chloé']
const lasts = [
  'Novak',
  'Okafor',
  'Müller',
  'Tanaka',
  'Silva',
  'Larsen',
  'Haddad',
  'Kowalski',
  'Byrne',
  'Rossi',
  'Dubois',
  'Singh'
]
const months = ['January', 'March', 'June', 'August', 'October', 'December']
const check731 = (s) => {
  const value = (c) => (c === '<' ? 0 : Number.parseInt(c, 36))
  return String([...s].reduce((n, c, i) => n + value(c) * [7, 3, 1][i % 3], 0) % 10)
}

export const data = {
  name: (r) => `${r.pick(firsts)} ${r.pick(lasts)}`,
  email: (r) =>
    r.pick([
      () =>
        `${r.pick(firsts)}.${r.pick(lasts)}@${r.pick(['gmail.com', 'outlook.com', 'web.de', 'orange.fr'])}`
          .toLowerCase()
          .normalize('NFD')
          .replace(/[\u0300-\u036f]/g, ''),
      () => `${r.lower36(8)}@${r.pick(['company.co.uk', 'mail.example.org', 'uni-berlin.de', 'school.edu'])}`,
      () =>
        `${r
          .pick(firsts)
          .toLowerCase()
          .normalize('NFD')
          .replace(/[\u0300-\u036f]/g, '')}+${r.lower36(4)}@sub.domain.io`
    ])(),
  phone: (r) =>
    r.pick([
      () => `+1 ${r.int(201, 989)} ${r.int(201, 989)} ${r.digits(4)}`,
      () => `(${r.int(201, 989)}) ${r.int(201, 989)}-${r.digits(4)}`,
      () => `${r.int(201, 989)}-${r.int(201, 989)}-${r.digits(4)}`,
      () => `+44 7${r.digits(3)} ${r.digits(6)}`,
      () => `+49 ${r.int(30, 89)} ${r.digits(7)}`,
      () => `+33 6 ${r.digits(2)} ${r.digits(2)} ${r.digits(2)} ${r.digits(2)}`,
      () => `+91-9${r.digits(4)}-${r.digits(5)}`,
      () => `+55 (11) 9${r.digits(4)}-${r.digits(4)}`,
      () => `0${r.int(151, 179)} ${r.digits(8)}`,
      () => `020 7${r.digits(3)} ${r.digits(4)}`,
      () => `001-${r.int(201, 989)}-${r.int(201, 989)}-${r.digits(4)}`,
      () => `${r.int(201, 989)}.${r.int(201, 989)}.${r.digits(4)}`
    ])(),
  card: (r) => {
    const b = r.pick([
      () => `4${r.digits(14)}`,
      () => `5${r.int(1, 5)}${r.digits(13)}`,
      () => `37${r.digits(12)}`,
      () => `6011${r.digits(11)}`,
      () => `35${r.int(30, 88)}${r.digits(11)}`
    ])()
    const s = b + luhnDigit(b)
    return s.length === 16 && r.int(0, 1) ? s.replace(/(\d{4})(?=\d)/g, `$1${r.pick([' ', '-'])}`) : s
  },
  iban: (r) => {
    const [c, b] = r.pick([
      () => ['DE', r.digits(18)],
      () => ['GB', `${r.upper(4)}${r.digits(14)}`],
      () => ['FR', r.digits(23)],
      () => ['NL', `${r.upper(4)}${r.digits(10)}`],
      () => ['ES', r.digits(20)],
      () => ['PL', r.digits(24)],
      () => ['CH', r.digits(17)]
    ])()
    const s = `${c}${two(98 - mod97(`${b}${c}00`))}${b}`
    return r.int(0, 1) ? s : s.replace(/(.{4})(?=.)/g, '$1 ')
  },
  dob: (r) => {
    const { y, m, d } = day(r)
    return r.pick([
      `${two(d)}/${two(m)}/${y}`,
      `${y}-${two(m)}-${two(d)}`,
      `${r.pick(months)} ${d}, ${y}`,
      `${d} ${r.pick(months)} ${y}`,
      `${two(d)}.${two(m)}.${y}`,
      `${m}/${d}/${y}`,
      `${two(m)}/${two(d)}/${two(y % 100)}`
    ])
  },
  ip: (r) =>
    r.pick([
      () => `${r.pick([23, 51, 88, 143, 203])}.${r.int(1, 254)}.${r.int(1, 254)}.${r.int(1, 254)}`,
      () => `2a02:${r.hex(4)}:${r.hex(4)}:1::${r.hex(4)}`
    ])(),
  mac: (r) => Array.from({ length: 6 }, () => r.hex(2)).join(':'),
  passport: (r) =>
    r.pick([
      () => r.digits(9),
      () => `${r.upper(1)}${r.digits(8)}`,
      () => `C${r.of('CFGHJKLMNPRTVWXYZ', 2)}${r.digits(1)}${r.of('CFGHJKLMNPRTVWXYZ0123456789', 4)}${r.digits(1)}`,
      () => `${r.upper(2)}${r.digits(7)}`
    ])(),
  licence: (r) =>
    r.pick([
      () => `${r.upper(1)}${r.digits(7)}`,
      () => `${r.upper(5)}${r.digits(6)}${r.upper(2)}${r.digits(1)}${r.upper(2)}`,
      () => `${r.upper(1)}${r.digits(3)}-${r.digits(4)}-${r.digits(4)}`,
      () => `${r.upper(1)}${r.digits(12)}`,
      () => r.digits(9)
    ])(),
  address: (r) =>
    r.pick([
      () =>
        `${r.int(1, 9999)} ${r.pick(['Maple', 'Sunset', 'Old Mill', 'Martin Luther King', 'Birch Hollow'])} ${r.pick(['Street', 'Ave', 'Boulevard', 'Rd', 'Lane', 'Drive'])}, ${r.pick(['Springfield, IL 62704', 'Austin, TX 78701', 'Portland, OR 97201'])}`,
      () =>
        `${r.int(1, 200)} ${r.pick(['Victoria', 'Church', 'Station', 'Kings'])} ${r.pick(['Road', 'Street', 'Lane'])}, ${r.pick(['Leeds LS1 4AP', 'London SW1A 2AA', 'Bristol BS1 5TR'])}`,
      () =>
        `${r.pick(['Hauptstraße', 'Bahnhofstr.', 'Lindenweg', 'Am Markt', 'Goetheplatz'])} ${r.int(1, 120)}${r.pick(['', 'a'])}, ${r.digits(5)} ${r.pick(['Berlin', 'Köln', 'München'])}`,
      () =>
        `${r.int(1, 90)} ${r.pick(['rue Victor Hugo', 'avenue de la République', 'boulevard Voltaire', 'place du Marché'])}, 7500${r.int(1, 9)} Paris`,
      () =>
        `${r.pick(['Calle Mayor', 'Avenida de América', 'Paseo del Prado', 'C/ Serrano'])} ${r.int(1, 90)}, 280${r.int(10, 50)} Madrid`,
      () => `${r.pick(['Via Roma', 'Piazza Garibaldi', 'Corso Italia'])} ${r.int(1, 90)}, 001${r.int(10, 99)} Roma`,
      () =>
        `${r.pick(['Keizersgracht', 'Dorpsstraat', 'Kerkweg'])} ${r.int(1, 300)}, 10${r.int(10, 99)} ${r.upper(2)} Amsterdam`,
      () =>
        `ul. ${r.pick(['Marszałkowska', 'Długa', 'Polna'])} ${r.int(1, 90)}/${r.int(1, 40)}, 00-${r.digits(3)} Warszawa`,
      () => `Rua ${r.pick(['das Flores', 'Augusta', 'do Ouvidor'])}, ${r.int(1, 999)}, São Paulo`,
      () => `P.O. Box ${r.int(10, 9999)}, ${r.pick(['Nairobi', 'Dubai', 'Auckland 1010'])}`
    ])(),
  mrz: (r) => {
    const name = `${r.pick(['NOVAK', 'OKAFOR', 'LARSEN'])}<<${r.pick(['MAYA', 'JONAS', 'ELENA'])}`
    const country = r.pick(['UTO', 'POL', 'NLD', 'CZE'])
    const number = `${r.upper(1)}${r.upper36(7)}${r.digits(1)}`
    const born = yymmdd(day(r))
    const until = `${r.int(26, 34)}${two(r.int(1, 12))}${two(r.int(1, 28))}`
    const n = number + check731(number)
    const b = born + check731(born)
    const u = until + check731(until)
    const rest = '<<<<<<<<<<<<<<'
    const c = check731(`${n}${b}${u}${rest}<`)
    return `${`P<${country}${name}`.padEnd(44, '<')}\n${n}${country}${b}${r.pick('MF')}${u}${rest}<${c}`
  }
}
