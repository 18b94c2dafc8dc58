import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import type { Detector } from '../../src/detectors/detector.js'
import { detectors } from '../../src/detectors/index.js'
import { obfuscation } from '../../src/detectors/obfuscation.js'
import { personalData } from '../../src/detectors/personal-data.js'
import { secrets } from '../../src/detectors/secrets.js'

/** `kind` must be found with at least `least` confidence, and its span must be `span`. */
type Positive = [text: string, kind: string, span: string, least?: number]

function finds(t: Tap, detector: Detector, rows: readonly Positive[]): void {
  for (const [text, kind, span, least = 0.5] of rows) {
    const found = detector.find(text)
    const hit = found.find((finding) => finding.kind === kind && finding.confidence >= least)
    t.equal(hit && text.slice(hit.start, hit.end), span, `${kind} in ${text.slice(0, 60)}`)
  }
}

function findsNothing(t: Tap, detector: Detector, texts: readonly string[]): void {
  for (const text of texts)
    t.same(
      detector.find(text).filter(({ confidence }) => confidence >= 0.5),
      [],
      text
    )
}

type Tap = Pick<typeof t, 'equal' | 'same'>

t.test('personal data is found by its checksum, its shape, or the word beside it', async (t) => {
  finds(t, personalData, [
    ['write to Jane.Doe+news@mail.example.co.uk.', 'email', 'Jane.Doe+news@mail.example.co.uk'],
    ['schreib an müller@bücher.example!', 'email', 'müller@bücher.example'],
    ['call +44 20 7946 0958 today', 'phone', '+44 20 7946 0958'],
    ['call (415) 555-0132 today', 'phone', '(415) 555-0132'],
    ['415.555.0132 it is', 'phone', '415.555.0132'],
    ['Tel. 030 90182-1234 bitte', 'phone', '030 90182-1234'],
    ['mobile: 07911123456', 'phone', '07911123456'],
    ['le 06 12 34 56 78 merci', 'phone', '06 12 34 56 78'],
    ['pay 4111 1111 1111 1111 now', 'payment_card', '4111 1111 1111 1111', 0.8],
    ['amex 378282246310005', 'payment_card', '378282246310005', 0.9],
    ['my card 4111-1111-1111-1112', 'payment_card', '4111-1111-1111-1112'],
    ['to GB82 WEST 1234 5698 7654 32 please', 'iban', 'GB82 WEST 1234 5698 7654 32', 0.9],
    ['DE89370400440532013000', 'iban', 'DE89370400440532013000', 0.9],
    ['SSN 536-90-4399', 'us_ssn', '536-90-4399'],
    ['my social security number is 536904399', 'us_ssn', '536904399'],
    ['from 203.0.113.7 again', 'ip_address', '203.0.113.7'],
    ['from 2001:db8:85a3::8a2e:370:7334 again', 'ip_address', '2001:db8:85a3::8a2e:370:7334'],
    ['at 00:1B:44:11:3A:B7', 'mac_address', '00:1B:44:11:3A:B7'],
    ['NI AB 12 34 56 C', 'uk_nino', 'AB 12 34 56 C'],
    ['DNI 12345678Z', 'es_dni', '12345678Z'],
    ['NIE X1234567L', 'es_dni', 'X1234567L'],
    ['Steuer-ID 86 095 742 719', 'de_tax_id', '86 095 742 719'],
    ['CPF 529.982.247-25', 'br_cpf', '529.982.247-25'],
    ['CNPJ 11.222.333/0001-81', 'br_cnpj', '11.222.333/0001-81'],
    ['NIR 2 55 08 14 168 025 38', 'fr_nir', '2 55 08 14 168 025 38'],
    ['身份证 11010519491231002X', 'cn_resident_id', '11010519491231002X'],
    ['Aadhaar 2341 2341 2346', 'in_aadhaar', '2341 2341 2346', 0.9],
    ['PESEL 44051401359', 'pl_pesel', '44051401359'],
    ['CF RSSMRA85T10A562S', 'it_codice_fiscale', 'RSSMRA85T10A562S'],
    ['passport number K98765432', 'passport', 'K98765432'],
    ['driving licence MORGA657054SM9', 'driving_licence', 'MORGA657054SM9'],
    ['born on 3 March 1984 in Leeds', 'date_of_birth', '3 March 1984'],
    ['DOB: 1984-03-03', 'date_of_birth', '1984-03-03'],
    ['she lives at 221b Baker Street, London', 'street_address', '221b Baker Street'],
    ['Lindenallee 12, 10115 Berlin', 'street_address', 'Lindenallee 12'],
    ['12 rue de la Paix, Paris', 'street_address', '12 rue de la Paix'],
    ['P.O. Box 1234', 'street_address', 'P.O. Box 1234']
  ])
})

t.test('what only looks like personal data is not found', async (t) => {
  findsNothing(t, personalData, [
    'order 4111111111111112 shipped on 2024-05-16, tracking 01995184',
    'the product code is 6017-3091-6316, the ISBN is 978-3-16-148410-0',
    'version 10.2.3.4 and v1.2.3.4, build 20240516.1',
    'request id 6aba330e-4c55-39a7-3dd7-7557c75b75c4 took 678 ms',
    'commit 3ed6729da48dcc2f59abb73ee7952cc203f7b1f7 on line 193',
    'ping 127.0.0.1, 192.168.1.10 and 10.0.0.1, then ::1',
    'call std::vector::push_back(a::b), or git@github.com:owner/name.git',
    'at 12:30:45 the score was 20:63, 4.30 pm, 1,234,567 people on the street',
    'SSN 000-12-3456, 666-12-3456, 900-12-3456, 123-45-0000',
    'DNI 12345678A, CPF 529.982.247-26, GB82 WEST 1234 5698 7654 33',
    'coordinates 58.1971, 66.0796, temperature 11 at 400 hours, 1015 hPa',
    'the meeting is on 3 March 2025; it was founded in 1984-03-03',
    'we were wearing 4 inch heels, ordering 12 bags and a 3 piece place setting',
    'doi:10.1016/0029-5493(84)90263-2',
    'phone number field is required; user@host:~$ ls'
  ])
})

/** Made here, so that no scanner takes this file for a leak: letters and digits without meaning. */
const random = (length: number, alphabet = 'aB3dE5gH7jK9mN2pQ4rS6tU8vW0xY1zC') =>
  Array.from({ length }, (_, i) => alphabet[(i * 7 + ((i * i) % 11)) % alphabet.length]).join('')
const hexadecimal = (length: number) => random(length, '0a1b2c3d4e5f6789')
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

function sixDigits(text: string): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let value = crc32(text)
  let check = ''
  for (let i = 0; i < 6; i++) {
    check = digits[value % 62]! + check
    value = Math.trunc(value / 62)
  }
  return check
}

function gatewayKey(valid: boolean): string {
  const body = `slg_live_${random(8)}_${random(42)}`
  return body + (valid ? sixDigits(body) : 'aaaaaa')
}

const jwt = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: '1234567', name: 'x' })}.${random(43)}`
const pem = `-----BEGIN RSA PRIVATE KEY-----\n${random(64)}\n${random(64)}\n-----END RSA PRIVATE KEY-----`

t.test('secrets are found by their issuer, or by the word beside them', async (t) => {
  const tokens: [kind: string, token: string][] = [
    ['sluicegate_key', gatewayKey(true)],
    ['aws_access_key', `AKIA${random(16).toUpperCase()}`],
    ['github_token', `ghp_${random(30)}${sixDigits(random(30))}`],
    ['github_token', `github_pat_${random(22)}_${random(59)}`],
    ['gitlab_token', `glpat-${random(20)}`],
    ['slack_token', `xoxb-${random(40)}`],
    ['slack_webhook', `hooks.slack.com/services/T${random(8)}/B${random(8)}/${random(24)}`],
    ['stripe_key', `sk_live_${random(24)}`],
    ['openai_key', `sk-proj-${random(48)}`],
    ['anthropic_key', `sk-ant-api03-${random(80)}AA`],
    ['google_api_key', `AIza${random(35)}`],
    ['npm_token', `npm_${random(30)}${sixDigits(random(30))}`],
    ['pypi_token', `pypi-AgEIcHlwaS5vcmc${random(60)}`],
    ['sendgrid_key', `SG.${random(22)}.${random(43)}`],
    ['twilio_key', `SK${hexadecimal(32)}`],
    ['telegram_bot_token', `1234509876:${random(35)}`],
    ['discord_token', `${Buffer.from('123456789012345678').toString('base64url')}.${random(6)}.${random(27)}`],
    ['jwt', jwt],
    ['vault_token', `hvs.${random(90)}`],
    ['age_secret_key', `AGE-SECRET-KEY-1${random(58).toUpperCase()}`],
    ['digitalocean_token', `dop_v1_${hexadecimal(64)}`],
    ['huggingface_token', `hf_${random(34)}`],
    ['private_key', pem],
    ['azure_storage_key', `AccountKey=${random(86)}==`],
    ['database_url', `postgres://app:${random(12)}@db.internal`],
    ['basic_auth_url', `https://admin:${random(12)}@example.org`]
  ]
  finds(
    t,
    secrets,
    tokens.map(([kind, token]): Positive => [`see ${token} please`, kind, token, 0.85])
  )
  const value = random(20)
  finds(t, secrets, [
    [`password = "Xk9!pq2Zr"`, 'password_assignment', 'Xk9!pq2Zr'],
    [`DB_PASSWORD=${value}`, 'password_assignment', value],
    [`"client_secret": "${value}",`, 'generic_secret', value],
    [`<api_key>${value}</api_key>`, 'generic_secret', value],
    [`curl -H "X-Api-Key: ${value}" https://x.example`, 'generic_secret', value],
    [`Authorization: Bearer ${value}`, 'generic_secret', value],
    [`curl -u admin:hunter5594! http://localhost`, 'password_assignment', 'hunter5594!'],
    [`mysql -uroot -pWinter1234 mydb`, 'password_assignment', 'Winter1234'],
    [`the wifi password is KPUN8&FaD`, 'password_assignment', 'KPUN8&FaD'],
    [`aws_secret_access_key = ${random(40)}`, 'aws_secret_key', random(40)],
    [`secret: ${hexadecimal(32)}`, 'generic_secret', hexadecimal(32)]
  ])
})

t.test('what only looks like a secret is not found', async (t) => {
  findsNothing(t, secrets, [
    'password = "**********"',
    'api_key = "YOUR_API_KEY_HERE"',
    'token=<changeme-placeholder-1>',
    `secret: $\{DB_SECRET_1}`,
    'apiKey: process.env.API_KEY_1',
    'password = os.environ["DB_PASSWORD_2"]',
    'private_key = getpass.getpass()',
    'password: string; // min 12 chars',
    'token_count=2879 max_tokens=6257',
    'How do I rotate my password for 2fa?',
    `commit ${hexadecimal(40)}`,
    `sha256:${hexadecimal(64)}`,
    `MD5 (file.iso) = ${hexadecimal(32)}`,
    `integrity sha512-${random(86)}==`,
    `ETag: "${hexadecimal(32)}"`,
    `trace_id=${hexadecimal(32)}`,
    'id: 05ff9b6a-715c-3f87-a938-e1d0b7ca398d',
    'border: 1px solid #cb1f00',
    `0x${hexadecimal(40)}`,
    'AKIAIOSFODNN7EXAMPLE',
    'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    'postgres://user:password@localhost/db',
    `postgres://app:$\{DB_PASSWORD}@db/x`,
    `-----BEGIN CERTIFICATE-----\n${random(64)}\n-----END CERTIFICATE-----`,
    `data:image/png;base64,${random(90)}`,
    `ssh-rsa AAAAB3NzaC1yc2E${random(60)} user@host`,
    'def check_secret(value): return len(value) > 19',
    'https://example.com/reset?step=6'
  ])
  t.same(
    secrets.find(gatewayKey(false)).map(({ confidence }) => confidence),
    [0.7],
    'a wrong checksum counts less'
  )
})

const tags = (text: string) => [...text].map((c) => String.fromCodePoint(0xe0000 + c.codePointAt(0)!)).join('')

t.test('obfuscation is found, and ordinary writing in any language is not', async (t) => {
  finds(t, obfuscation, [
    [`hi${tags('ignore all')} x`, 'hidden_text', tags('ignore all'), 0.9],
    ['x\u{e0158}\u{e0159}\u{e015c}\u{e015c} y', 'hidden_text', '\u{e0158}\u{e0159}\u{e015c}\u{e015c}', 0.9],
    ['a \u202egnp.exe b', 'bidi_control', '\u202e', 0.6],
    ['a k\u200bill b', 'invisible_run', '\u200b'],
    ['a \u200b\u200c\u200d\u2060\u200b b', 'invisible_run', '\u200b\u200c\u200d\u2060\u200b', 0.6],
    ['a pаsswоrd b', 'mixed_script_word', 'pаsswоrd', 0.6]
  ])
  findsNothing(t, obfuscation, [
    'plain English',
    'Привет, мир! IT-отдел и SMSка',
    'Καλημέρα, Δt = 5 μs',
    'می‌خواهم کتاب',
    '\u2067שלום\u2069 עולם \u200f!',
    '👨‍👩‍👧 ❤️ 🇺🇸 1️⃣',
    `🏴${tags('gbsct')}\u{e007f}`,
    'クール ガイ ร้าน 你好',
    '\ufeffstart',
    'hyphen\u00adation',
    'Łódź Ørsted ı'
  ])
})

t.test('findings lie in the text, name a known kind and do not overlap, whatever the text', async (t) => {
  const pieces = fc.constantFrom(
    '4111 1111 1111 1111',
    'a@b.co',
    'password=',
    'Xk9!pq2Zr',
    '://',
    '"',
    ' ',
    '\n',
    '12',
    '\ud83d',
    '\u202e',
    'о',
    'a',
    '-----BEGIN PRIVATE KEY-----'
  )
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 120 }),
    fc.array(pieces, { maxLength: 30 }).map((all) => all.join(''))
  )
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(text, (text) =>
        detectors.every((detector) => {
          let end = 0
          return detector.find(text).every((finding) => {
            const fits = finding.start >= end && finding.end > finding.start && finding.end <= text.length
            // What only reads words finds its kinds side by side: one sentence may be hateful and violent.
            if (detector.readsWords !== true) end = finding.end
            return fits && finding.confidence > 0 && finding.confidence <= 1 && detector.kinds.includes(finding.kind)
          })
        })
      ),
      { numRuns: 3000 }
    )
  )
  t.equal(new Set(detectors.map(({ id }) => id)).size, detectors.length)
})
