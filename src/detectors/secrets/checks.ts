/** Checks of tokens beyond their form: checksums and decodable parts. Each takes the whole token. */
import { crc32 } from 'node:zlib'
import { base62 } from './form.js'

export type Check = (token: string) => boolean

/** A number in six digits of base62. */
function sixDigits(value: number): string {
  let digits = ''
  for (let rest = value, i = 0; i < 6; i++) {
    digits = base62[rest % 62]! + digits
    rest = Math.trunc(rest / 62)
  }
  return digits
}

/** This gateway's own keys: the last six digits are the CRC-32 of all before them. */
export const gatewayKey: Check = (token) => sixDigits(crc32(token.slice(0, -6))) === token.slice(-6)

/** GitHub and npm: the last six digits are the CRC-32 of the thirty after the prefix (GitHub's engineering blog, April 2021). */
export const afterPrefix: Check = (token) =>
  sixDigits(crc32(token.slice(token.indexOf('_') + 1, -6))) === token.slice(-6)

/** The header of a signed token (RFC 7519) is JSON that names an algorithm. */
export const joseHeader: Check = (token) => {
  const header = json(token.slice(0, token.indexOf('.')))
  return header !== undefined && 'alg' in header
}

/** Whether a part in either base64 is a JSON object that begins there. */
function json(part: string): object | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** The first part of a Discord token is the account's number in base64. */
export const discordAccount: Check = (token) =>
  /^\d{16,20}$/.test(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString('latin1'))

/** Bech32 (BIP 173), which age keys are written in. */
export const bech32: Check = (token) => {
  const charset = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
  const text = token.toLowerCase()
  const split = text.lastIndexOf('1')
  const prefix = [...text.slice(0, split)].map((character) => character.charCodeAt(0))
  const data = [...text.slice(split + 1)].map((character) => charset.indexOf(character))
  if (data.includes(-1)) return false
  let sum = 1
  for (const value of [...prefix.map((code) => code >> 5), 0, ...prefix.map((code) => code & 31), ...data]) {
    const top = sum >>> 25
    sum = ((sum & 0x1ffffff) << 5) ^ value
    for (const [i, generator] of [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3].entries())
      if ((top >> i) & 1) sum ^= generator
  }
  return sum === 1
}
