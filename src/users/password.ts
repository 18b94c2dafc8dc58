/**
 * Passwords at rest: scrypt (RFC 7914), which costs memory as well as time. It is Node's own, maintained with OpenSSL and
 * run off the event loop: no dependency, no binary to fetch. Stored as `scrypt$<log2 N>$<r>$<p>$<salt>$<hash>`, so that the
 * cost can be raised later.
 */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { invalid } from '../base/errors.js'

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

/** 32 MiB and three passes: one of the settings that OWASP's password storage cheat sheet names as equivalent. */
const cost = { log2N: 15, r: 8, p: 3 }
const hashLength = 32
/** At once, so that many sign-ins neither fill the memory (32 MiB each) nor occupy every thread of the pool. */
const maxAtOnce = 2
const maxWaiting = 50

/** NIST SP 800-63B: length is what counts; no rules about kinds of characters. */
export const minPassword = 12
export const maxPassword = 256

/** @throws the Fault `validation_error` that names the field */
export function checkPassword(password: string, field = 'password'): void {
  if (password.length < minPassword) {
    throw invalid(field, 'out_of_range', `${field} must have at least ${minPassword} characters.`)
  }
  if (password.length > maxPassword) {
    throw invalid(field, 'too_long', `${field} must have at most ${maxPassword} characters.`)
  }
  if (new Set(password).size < 5) throw invalid(field, 'invalid_format', `${field} repeats too few characters.`)
}

let running = 0
const waiting: (() => void)[] = []

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= maxAtOnce) {
    if (waiting.length >= maxWaiting) throw new Error('too many passwords are being checked')
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else running++
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

async function hashWith(password: string, salt: Buffer, { log2N, r, p }: typeof cost, length: number): Promise<Buffer> {
  const N = 2 ** log2N
  // The same text in another Unicode form is the same password (RFC 8265, section 4.2.2).
  return inTurn(() => derive(password.normalize('NFC'), salt, length, { N, r, p, maxmem: 256 * N * r }))
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await hashWith(password, salt, cost, hashLength)
  const { log2N, r, p } = cost
  return ['scrypt', log2N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/** A dummy hash for unknown users, so that the answer takes equally long. */
const nobody = ['scrypt', cost.log2N, cost.r, cost.p, 'AAAAAAAAAAAAAAAAAAAAAA', 'A'.repeat(43)].join('$')

/** @param stored undefined or null: no password matches */
export async function passwordMatches(password: string, stored: string | null | undefined): Promise<boolean> {
  const [kind, log2N, r, p, salt, hash] = (stored ?? nobody).split('$')
  if (kind !== 'scrypt' || salt === undefined || hash === undefined) throw new Error('not a stored password')
  const expected = Buffer.from(hash, 'base64url')
  const given = await hashWith(
    password.slice(0, maxPassword),
    Buffer.from(salt, 'base64url'),
    { log2N: Number(log2N), r: Number(r), p: Number(p) },
    expected.length
  )
  return timingSafeEqual(given, expected) && stored !== null && stored !== undefined
}
