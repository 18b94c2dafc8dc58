import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import type { Detector } from '../../src/detectors/detector.js'
import { nationalKinds } from '../../src/detectors/personal-data/national.js'
import { personalData } from '../../src/detectors/personal-data.js'
import { secrets } from '../../src/detectors/secrets.js'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString().trim()
const publicPem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString().trim()
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const lines = pem.split('\n')

/** What of the text is found as a private key. */
const keyIn = (text: string) =>
  secrets
    .find(text)
    .filter(({ kind }) => /private_key|service_account/.test(kind))
    .map(({ start, end }) => text.slice(start, end))

t.test('private keys are found whole and in pieces', async (t) => {
  t.same(keyIn(`a\n${pem}\nb`), [pem], 'whole')
  t.same(keyIn(`a\n${lines.slice(0, 9).join('\n')}\n`), [lines.slice(0, 9).join('\n')], 'without its end')
  t.same(keyIn(`here:\n${lines.slice(-9).join('\n')}\nb`), [lines.slice(-9).join('\n')], 'without its beginning')
  t.same(keyIn(`a\n${lines.slice(1, -1).join('\n')}\nb`), [lines.slice(1, -1).join('\n')], 'without both')
  t.ok(keyIn(`a\n${lines.slice(12, 23).join('\n')}\nb`).join('').length >= 64 * 10, 'lines from the middle')
  const one = ec.export({ type: 'pkcs8', format: 'der' }).toString('base64')
  t.same(keyIn(`key ${one} end`), [one], 'DER in one line')
  const twice = Buffer.from(ec.export({ type: 'pkcs8', format: 'pem' })).toString('base64')
  t.same(keyIn(`key ${twice} end`), [twice], 'PEM in base64')
  t.equal(keyIn(JSON.stringify({ type: 'service_account', private_key: pem })).length, 1, 'in JSON')
})

t.test('public keys, certificates, and base64 of other things are no private keys', async (t) => {
  const noise = Buffer.from(Array.from({ length: 4_800 }, (_, i) => (i * 197 + ((i * i) % 251)) % 256)).toString(
    'base64'
  )
  const inLines = noise.match(/.{64}/g)!.join('\n')
  for (const text of [publicPem, publicPem.split('\n').slice(1, -1).join('\n'), inLines, `${inLines}\n${inLines}`])
    t.same(keyIn(`a\n${text}\nb`), [], text.slice(0, 40))
})

t.test('private members of JSON Web Keys are found, public ones are not', async (t) => {
  for (const key of [ec, rsa.privateKey]) {
    const jwk = key.export({ format: 'jwk' }) as Record<string, string>
    const text = JSON.stringify(jwk, null, 2)
    const found = keyIn(text)
    for (const name of ['d', 'p', 'q', 'dp', 'dq', 'qi'])
      if (jwk[name] !== undefined) t.ok(found.includes(jwk[name]), name)
    for (const name of ['x', 'y', 'n']) if (jwk[name] !== undefined) t.notOk(found.includes(jwk[name]), name)
  }
  // 64 octets, of which the leading one is zero.
  const short = Buffer.from(Array.from({ length: 63 }, (_, i) => (i * 197 + 61) % 256)).toString('base64url')
  t.same(keyIn(`{"kty":"RSA","dp":"${short}"}`), [short])
  const k = 'aB3dE5gH7jK9mN2pQ4rS6tU8vW0xY1zCaB3dE5gH7jK'
  t.same(keyIn(`{"kty":"oct","k":"${k}"}`), [k])
  t.same(keyIn(`{"k":"${k}"}`), [])
  t.ok(createPrivateKey(pem))
})

/** People who do not exist. */
const people: [kind: string, name: string, number: string][] = [
  ['us_ssn', 'SSN', '219-15-9791'],
  ['us_itin', 'ITIN', '965-77-4257'],
  ['ca_sin', 'SIN', '217 513 258'],
  ['mx_curp', 'CURP', 'CAEH030325MMCCYPB6'],
  ['br_cpf', 'CPF', '696.980.134-90'],
  ['ar_cuit', 'CUIT', '20-07344976-7'],
  ['cl_rut', 'RUT', '11.282.310-7'],
  ['ec_cedula', 'cédula', '0901931634'],
  ['uk_nino', 'National Insurance number', 'AG 95 86 91 C'],
  ['uk_nhs_number', 'NHS number', '689 859 9585'],
  ['ie_pps', 'PPS number', '0537579I'],
  ['es_dni', 'DNI', '49028732T'],
  ['pt_nif', 'NIF', '346753201'],
  ['fr_nir', 'numéro de sécurité sociale', '1 96 11 60 065 792 81'],
  ['de_tax_id', 'Steuer-ID', '96868195513'],
  ['at_svnr', 'Sozialversicherungsnummer', '2880 280889'],
  ['ch_ahv', 'AHV-Nummer', '756.6794.2578.13'],
  ['it_codice_fiscale', 'codice fiscale', 'DFLMDB78H15A189R'],
  ['nl_bsn', 'BSN', '114473377'],
  ['be_national_number', 'rijksregisternummer', '87.10.15-796.69'],
  ['se_personnummer', 'personnummer', '690709-5704'],
  ['no_fodselsnummer', 'fødselsnummer', '221094 43941'],
  ['dk_cpr', 'CPR-nummer', '140560-8495'],
  ['fi_hetu', 'henkilötunnus', '160571-2657'],
  ['is_kennitala', 'kennitala', '280798-8789'],
  ['pl_pesel', 'PESEL', '74062095618'],
  ['cz_rodne_cislo', 'rodné číslo', '865518/3207'],
  ['hu_taj', 'TAJ szám', '679 320 795'],
  ['ro_cnp', 'CNP', '1921027462539'],
  ['bg_egn', 'ЕГН', '8710187650'],
  ['gr_amka', 'ΑΜΚΑ', '14106117451'],
  ['hr_oib', 'OIB', '58911253980'],
  ['rs_jmbg', 'JMBG', '0811976509674'],
  ['ee_isikukood', 'isikukood', '46511280173'],
  ['lt_asmens_kodas', 'asmens kodas', '35101265278'],
  ['ua_rnokpp', 'РНОКПП', '3295304903'],
  ['ru_snils', 'СНИЛС', '108-545-150 47'],
  ['tr_kimlik', 'TC kimlik no', '47624144574'],
  ['il_id', 'מספר זהות', '173680174'],
  ['ae_emirates_id', 'Emirates ID', '784-1999-2863019-5'],
  ['za_id', 'South African ID number', '8604150547082'],
  ['in_aadhaar', 'Aadhaar', '3712 2800 9944'],
  ['in_pan', 'PAN', 'OSEPN0578B'],
  ['cn_resident_id', '身份证号', '510107197905022127'],
  ['kr_rrn', '주민등록번호', '651024-2778676'],
  ['jp_my_number', 'マイナンバー', '634632456475'],
  ['tw_id', '身分證字號', 'V243815560'],
  ['hk_id', 'HKID', 'M049756(3)'],
  ['sg_nric', 'NRIC', 'S9074242F'],
  ['th_id', 'เลขประจำตัวประชาชน', '4-9591-41077-20-7'],
  ['my_nric', 'MyKad', '730809-10-9256'],
  ['au_tfn', 'TFN', '675 766 567'],
  ['au_medicare', 'Medicare number', '5886 61293 2'],
  ['nz_ird', 'IRD number', '14-529-705'],
  ['kz_iin', 'ИИН', '470915421377']
]

t.test('national numbers are found by their check digits, beside the words for them', async (t) => {
  t.ok(new Set(people.map(([kind]) => kind.slice(0, 2))).size >= 25, 'countries')
  for (const [kind, name, number] of people) {
    const text = `${name}: ${number} is theirs`
    const found = personalData.find(text).find((finding) => finding.kind === kind)
    t.equal(found && text.slice(found.start, found.end), number, `${kind} ${number}`)
    t.ok(nationalKinds.includes(kind), kind)
  }
})

/** Kinds without check digits, or whose last digit is none. */
const unchecked = new Set([
  'us_ssn',
  'us_itin',
  'uk_nino',
  'dk_cpr',
  'my_nric',
  'in_pan',
  'ae_emirates_id',
  'kr_rrn',
  'is_kennitala',
  'au_medicare'
])

t.test('another check digit makes it no national number', async (t) => {
  for (const [kind, name, number] of people.filter(([kind]) => !unchecked.has(kind))) {
    const last = number.search(/\d[^\d]*$/)
    const isPerson = (digit: string) => {
      const text = `${name}: ${number.slice(0, last)}${digit}${number.slice(last + 1)} is theirs`
      return personalData.find(text).some((finding) => finding.kind === kind)
    }
    const wrong = [...'0123456789'].filter((digit) => digit !== number[last] && isPerson(digit))
    t.ok(wrong.length <= 2, `${kind} ${number}: ${wrong.join()}`)
  }
})

const zone = 'P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10'
const card = 'I<UTOD231458907<<<<<<<<<<<<<<<\n7408122F1204159UTO<<<<<<<<<<<6\nERIKSSON<<ANNA<MARIA<<<<<<<<<<'

t.test('zones of travel documents are found whole', async (t) => {
  for (const text of [zone, card]) {
    const [found] = personalData.find(`scan:\n${text}\nend`).filter(({ kind }) => kind === 'travel_document')
    t.match(found, { start: 6, end: 6 + text.length, confidence: 0.98 })
  }
  t.match(personalData.find(zone.replace('L898902C36', 'L898902C37'))[0], { confidence: 0.7 }, 'a wrong check digit')
})

/** Before the offset that is settled nothing changes any more, whatever has still to come. */
function holdsBack(t: Pick<typeof import('tap').t, 'same'>, detector: Detector, text: string): void {
  const whole = detector.find(text)
  for (let size = 1; size <= text.length; size += text.length > 2_000 ? 7 : 1) {
    const start = text.slice(0, size)
    const settled = detector.growsFrom!(start, '', new Map())
    const early = detector.find(start).filter(({ end }) => end <= settled)
    const late = whole.filter((finding) => finding.start < settled)
    t.same(
      early.map(({ start, end }) => [start, end]),
      late.map(({ start, end }) => [start, end]),
      `${size} of ${text.slice(0, 30)}`
    )
  }
}

t.test('a stream is held back from where a finding may still begin', async (t) => {
  const tail = lines.slice(-6).join('\n')
  for (const text of [
    `the key\n${pem}\nwas here`,
    `the end of one:\n${tail}\nwas here`,
    `lines:\n${lines.slice(12, 20).join('\n')}\nwere here`,
    `{"kty":"EC","d":"${ec.export({ format: 'jwk' }).d}"}`,
    'password: Xk9!pq2Zr and the password for the server is Zq8!late#Find1, thanks',
    'machine a.example login b password Winter98 end'
  ])
    holdsBack(t, secrets, text)
  for (const text of [`scan\n${zone}\nend`, `scan\n${card}\nend`, 'my BSN is 111222333 and CURP HEGG560427MVZRRL04 ok'])
    holdsBack(t, personalData, text)
})
