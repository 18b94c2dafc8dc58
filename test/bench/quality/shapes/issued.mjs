// Tokens as issuers write them, made by hand from their documentation (not from the tables of the detectors), and keys.
import { generateKeyPairSync } from 'node:crypto'
import { crc32 } from 'node:zlib'

const digits62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
function checked(prefix, body) {
  let value = crc32(body)
  let end = ''
  for (let i = 0; i < 6; i++) {
    end = digits62[value % 62] + end
    value = Math.trunc(value / 62)
  }
  return prefix + body + end
}
const json = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** By kind, a function from a random source to a token. */
export const issued = {
  github: (r) => checked(r.pick(['ghp_', 'gho_', 'ghu_', 'ghs_']), r.base62(30)),
  'github, made up': (r) => `ghp_${r.base62(36)}`,
  'github fine-grained': (r) => `github_pat_${r.base62(22)}_${r.base62(59)}`,
  gitlab: (r) => `glpat-${r.word(20)}`,
  npm: (r) => checked('npm_', r.base62(30)),
  pypi: (r) => `pypi-AgEIcHlwaS5vcmc${r.word(150)}`,
  rubygems: (r) => `rubygems_${r.hex(48)}`,
  nuget: (r) => `oy2${r.lower36(43)}`,
  'docker hub': (r) => `dckr_pat_${r.word(27)}`,
  atlassian: (r) => `ATATT3xFfGF0${r.word(172)}=${r.hex(8).toUpperCase()}`,
  slack: (r) => `xoxb-${r.digits(12)}-${r.digits(13)}-${r.base62(24)}`,
  'slack hook': (r) => `https://hooks.slack.com/services/T${r.upper36(10)}/B${r.upper36(10)}/${r.base62(24)}`,
  'discord hook': (r) => `https://discord.com/api/webhooks/${r.digits(18)}/${r.word(68)}`,
  telegram: (r) => `${r.int(1, 9)}${r.digits(9)}:AA${r.word(33)}`,
  twilio: (r) => `SK${r.hex(32)}`,
  sendgrid: (r) => `SG.${r.word(22)}.${r.word(43)}`,
  mailgun: (r) => `${r.hex(32)}-${r.hex(8)}-${r.hex(8)}`,
  mailchimp: (r) => `${r.hex(32)}-us${r.int(1, 21)}`,
  stripe: (r) => `${r.pick(['sk', 'rk'])}_live_51${r.base62(97)}`,
  square: (r) => `EAAA${r.pick('lmn')}${r.word(58)}`.slice(0, 64),
  shopify: (r) => `shpat_${r.hex(32)}`,
  razorpay: (r) => `rzp_live_${r.base62(14)}`,
  plaid: (r) => `access-production-${r.hex(8)}-${r.hex(4)}-${r.hex(4)}-${r.hex(4)}-${r.hex(12)}`,
  aws: (r) => `AKIA${r.of('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`,
  google: (r) => `AIzaSy${r.word(33)}`,
  'google oauth': (r) => `GOCSPX-${r.word(28)}`,
  'azure storage': (r) => `AccountKey=${r.base64(86)}==`,
  'azure entra': (r) => `${r.base62(3)}8Q~${r.word(34)}`,
  digitalocean: (r) => `dop_v1_${r.hex(64)}`,
  fly: (r) => `fo1_${r.word(43)}`,
  vercel: (r) => `vcp_${r.base62(56)}`,
  netlify: (r) => `nfp_${r.base62(36)}`,
  supabase: (r) => `sbp_${r.hex(40)}`,
  planetscale: (r) => `pscale_tkn_${r.word(43)}`,
  databricks: (r) => `dapi${r.hex(32)}`,
  vault: (r) => `hvs.${r.word(95)}`,
  'terraform cloud': (r) => `${r.base62(14)}.atlasv1.${r.base62(67)}`,
  doppler: (r) => `dp.pt.${r.base62(43)}`,
  pulumi: (r) => `pul-${r.hex(40)}`,
  openai: (r) => `sk-proj-${r.word(74)}T3BlbkFJ${r.word(74)}`,
  'openai, older': (r) => `sk-${r.base62(20)}T3BlbkFJ${r.base62(20)}`,
  anthropic: (r) => `sk-ant-api03-${r.word(93)}AA`,
  'hugging face': (r) => `hf_${r.of('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ', 34)}`,
  groq: (r) => `gsk_${r.base62(52)}`,
  replicate: (r) => `r8_${r.base62(37)}`,
  perplexity: (r) => `pplx-${r.base62(48)}`,
  xai: (r) => `xai-${r.base62(80)}`,
  pinecone: (r) => `pcsk_${r.base62(5)}_${r.base62(63)}`,
  linear: (r) => `lin_api_${r.base62(40)}`,
  notion: (r) => `ntn_${r.digits(11)}${r.base62(35)}`,
  figma: (r) => `figd_${r.word(40)}`,
  airtable: (r) => `pat${r.base62(14)}.${r.hex(64)}`,
  postman: (r) => `PMAK-${r.hex(24)}-${r.hex(34)}`,
  grafana: (r) => `glsa_${r.base62(32)}_${r.hex(8)}`,
  'new relic': (r) => `NRAK-${r.upper36(27)}`,
  sentry: (r) => `sntryu_${r.hex(64)}`,
  dynatrace: (r) => `dt0c01.${r.upper36(24)}.${r.upper36(64)}`,
  tailscale: (r) => `tskey-auth-${r.base62(12)}CNTRL-${r.base62(32)}`,
  jwt: (r) => `${json({ alg: 'HS256', typ: 'JWT' })}.${json({ sub: r.digits(10), iat: r.int(1e9, 2e9) })}.${r.word(43)}`
}

const pair = (type, options, format = 'pkcs8') =>
  generateKeyPairSync(type, {
    ...options,
    privateKeyEncoding: { type: format, format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' }
  }).privateKey
const lines = (pem) => pem.trim().split('\n')

/** Private keys, whole and cut: real ones, made for the run. */
export const privateKeys = {
  'PEM, RSA': () => pair('rsa', { modulusLength: 2048 }, 'pkcs1'),
  'PEM, PKCS #8': () => pair('rsa', { modulusLength: 2048 }),
  'PEM, EC': () => pair('ec', { namedCurve: 'P-256' }, 'sec1'),
  'PEM, Ed25519': () => pair('ed25519', {}),
  'PEM in JSON': () => JSON.stringify({ type: 'service_account', private_key: pair('rsa', { modulusLength: 2048 }) }),
  'PEM without its end': () =>
    lines(pair('rsa', { modulusLength: 2048 }))
      .slice(0, 9)
      .join('\n'),
  'PEM without its beginning': () =>
    lines(pair('rsa', { modulusLength: 2048 }))
      .slice(-9)
      .join('\n'),
  'PEM without both': () =>
    lines(pair('rsa', { modulusLength: 2048 }))
      .slice(1, -1)
      .join('\n'),
  'lines of PEM from its second half': () =>
    lines(pair('rsa', { modulusLength: 2048 }))
      .slice(11, 24)
      .join('\n'),
  'DER in base64': () => Buffer.from(pair('ec', { namedCurve: 'P-256' })).toString('base64'),
  JWK: () => JSON.stringify(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })),
  'JWK, RSA': () =>
    JSON.stringify(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }), null, 2)
}

const people = [
  'sunshine',
  'dragon',
  'Monkey',
  'Winter',
  'liverpool',
  'Passw0rd',
  'summer',
  'Tiger',
  'coffee',
  'Berlin'
]
/** Passwords as people choose them and as generators make them, and random values. */
export const values = {
  chosen: (r) =>
    `${r.pick(people)}${r.pick(['', '_', '@', '#'])}${r.digits(r.int(2, 4))}${r.pick(['', '!', '?', '$'])}`,
  generated: (r) =>
    `${r.of('abcdefghkmnpqrstuvwxyz', 4)}${r.of('!@#%^*', 1)}${r.base62(8)}${r.of('23456789', 2)}${r.upper(1)}`,
  phrase: (r) =>
    `${r.pick(['Correct', 'Purple', 'Quiet'])}-${r.pick(['Horse', 'River', 'Lamp'])}-${r.pick(['Battery', 'Stone'])}-${r.digits(2)}`,
  hexadecimal: (r) => r.hex(r.pick([32, 40, 64])),
  base62: (r) => r.base62(r.int(20, 48)),
  base64: (r) => `${r.base64(43)}=`
}
