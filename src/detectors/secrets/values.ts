/** Recognises values of secrets, and distinguishes placeholders. */

/** Bits per character of the text's own distribution (Shannon). */
export function entropy(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

const placeholderWord =
  /(?:^|[^a-z])(?:your|my)[-_ ]?(?:api|secret|token|key|pass|own)|example|change[-_]?me|placeholder|redacted|replace|dummy|sample|insert|x{4,}|\*{3,}|\.{3,}|<[^>]*>|todo|fixme|_here\b|^none$|^null$|^undefined$|^true$|^false$|^test$|^abcd?1234?5?6?$/i
const reference =
  /^[$%][({]?[A-Za-z_]|^\{\{|process\.env|import\.meta|os\.environ|getenv|environ\[|getpass|secrets?\.[A-Za-z]|vault:|^env\.|\(\)?$|^ssm:|^arn:|config\.[a-z]/i

/** A sample value, a row of one sign, or a reference to where the value is kept. */
export function isStandIn(value: string): boolean {
  return placeholderWord.test(value) || reference.test(value) || new Set(value).size < 4
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const link = /^[a-z][a-z0-9+.-]{1,12}:\/\/|^urn:|^&[a-z]+;?$|^\d{0,3}&[a-z]{2,8}$/i
/** `Autocomplete-attribute`: words of a text. */
const wording = /^\p{L}+(?:[-']\p{L}+)+$/u
/** `secret-2-levels`: named for what it stands for. */
const named = /^(?:secret|token|key|value)[-_]/i
const file = /^[.~]{0,2}\/|\.(?:js|ts|py|json|ya?ml|txt|md|html?|png|jpe?g|pem|crt|com|org|net|io|log)$/i
const dateOrVersion = /^v?\d+(?:[._:/-]\d+)+(?:[tTzZ+-][\d:.]*)?$/

/** Strength of the evidence by a value's name: people choose passwords, programs generate tokens. */
export type Strength = 'weak' | 'strong'

/** `utf8mb4`, `oauth2_token`, `sha256-rsa`: words and short numbers, as names in programs are. */
const identifier =
  /^(?:[a-z]{2,}|[A-Z][a-z]+|[A-Z]{2,}|\d{1,2}(?!\d))(?:[-_.:/]?(?:[a-z]{2,}|[A-Z][a-z]+|[A-Z]{2,}|\d{1,2}(?!\d)))*$/
/** `aes-256-gcm`, `RS256`, `ed25519`. */
const algorithm =
  /^(?:[a-z]{2,10}[-_])*(?:sha|hs|rs|es|ps|p|aes|ed|md|rsa|curve|secp|camellia|utf|iso|chacha|x)[-_]?\d{2,5}/i

/** Whether a value that stands beside a word for a secret can be one: mixed characters, no link, file, date or identifier. */
export function isSecretValue(value: string, strength: Strength = 'weak'): boolean {
  if (value.length < 6 || value.length > 512 || isStandIn(value)) return false
  if (
    strength === 'strong' &&
    !isRandom(value) &&
    !isHexadecimal(value) &&
    (identifier.test(value) || algorithm.test(value))
  )
    return false
  if (wording.test(value) || (named.test(value) && identifier.test(value))) return false
  if (uuid.test(value) || link.test(value) || dateOrVersion.test(value)) return false
  if (file.test(value) && !isKeyMaterial(value)) return false
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value)).length
  return kinds >= 2 && /[A-Za-z]/.test(value) && (/\d/.test(value) || kinds >= 3) && entropy(value) > 2
}

/** A digest's worth of digits. */
function isHexadecimal(value: string): boolean {
  return /^[0-9a-f]{16,}$/i.test(value) && entropy(value) > 2.5
}

/** Base64 of the length of AWS's and Azure's keys: it may begin with a slash, as paths do. */
function isKeyMaterial(value: string): boolean {
  return /^[A-Za-z0-9/+]{40}$|^[A-Za-z0-9/+]{86}==$/.test(value) && isRandom(value)
}

/** A password as people write it outside an assignment: letters with digits, or with signs and both cases. */
export function isPasswordLike(value: string): boolean {
  if (/^--?[a-z]/i.test(value)) return false
  if (/[./:_-]/.test(value) || value.length < 8 || value.length > 64) return isRandom(value)
  const signs = /[!@#$%^&*]/.test(value)
  return (
    /[A-Za-z]/.test(value) &&
    (/\d/.test(value)
      ? signs || /[A-Z]/.test(value) || /\d{3}/.test(value)
      : signs && /[A-Z]/.test(value) && /[a-z]/.test(value))
  )
}

/** Whether a value looks random, unlike any word or name. */
export function isRandom(value: string): boolean {
  if (value.length < 12 || !/[a-z]/.test(value) || !/[A-Z]/.test(value) || !/\d/.test(value)) return false
  return entropy(value) >= Math.min(3.4, Math.log2(value.length) - 0.4)
}
