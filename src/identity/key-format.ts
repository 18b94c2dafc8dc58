/**
 * The format of a key (docs/api.md, section 3): `slg_<live|test>_<8 base62>_<48 base62>`, where the last 6 characters are a
 * checksum over everything before them. It tells a mistyped or made-up string from a key with no lookup, and lets secret
 * scanners report no false alarm.
 */
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Environment } from '../storage/contracts/index.js'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const prefixLength = 8
const randomSecretLength = 42
const checksumLength = 6

/** As published for secret scanners. A match is a key only if its checksum is right. */
export const keyPattern = 'slg_(?:live|test)_[0-9A-Za-z]{8}_[0-9A-Za-z]{48}'
const wholeKey = /^slg_(live|test)_([0-9A-Za-z]{8})_[0-9A-Za-z]{48}$/
const keyLength = 66

export interface ParsedKey {
  environment: Environment
  /** The 8 characters that the key is looked up by. */
  prefix: string
  /** SHA-256 of the full key. */
  hash: Buffer
}

/** @param random for tests: `n` random bytes */
export function generateKey(environment: Environment, random: (n: number) => Uint8Array = randomBytes): string {
  const text = randomText(prefixLength + randomSecretLength, random)
  const body = `slg_${environment}_${text.slice(0, prefixLength)}_${text.slice(prefixLength)}`
  return body + checksum(body)
}

/** Undefined: not a key, whatever else it may be. */
export function parseKey(text: string): ParsedKey | undefined {
  if (text.length !== keyLength) return undefined
  const match = wholeKey.exec(text)
  if (!match || checksum(text.slice(0, -checksumLength)) !== text.slice(-checksumLength)) return undefined
  return { environment: match[1] as Environment, prefix: match[2]!, hash: hashKey(text) }
}

/** As a key is shown: `slg_live_ab12CD34`. */
export function shownPrefix(environment: Environment, prefix: string): string {
  return `slg_${environment}_${prefix}`
}

/** No salt and no stretching: 250 random bits cannot be guessed, and every request pays for this. */
function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

/** CRC-32 (IEEE) of the ASCII text in base62, left-padded: 62^6 exceeds 2^32. */
function checksum(text: string): string {
  let value = crc32(text)
  let digits = ''
  for (let i = 0; i < checksumLength; i++) {
    digits = alphabet[value % 62] + digits
    value = Math.floor(value / 62)
  }
  return digits
}

/** Bytes from 248 on are drawn again: 256 is no multiple of 62, and a remainder would favour the first eight digits. */
function randomText(length: number, random: (n: number) => Uint8Array): string {
  let text = ''
  while (text.length < length) {
    for (const byte of random(length)) {
      if (byte < 248 && text.length < length) text += alphabet[byte % 62]
    }
  }
  return text
}
