/** Validates the input for a new key, for the API, the command line and the dashboard. */
import { invalid } from '../base/errors.js'
import { parseInstant } from '../base/instant.js'
import type { Environment, KeyRow } from '../storage/contracts/index.js'
import { compileAddressList } from './address.js'
import { isScope, keyScopesTold, type Scope } from './scopes.js'

/** In the API's own names. */
export interface CreateKeyInput {
  name: string
  /** Default `live`. */
  environment?: Environment | undefined
  /** Default `["*"]`. */
  scopes?: readonly string[] | undefined
  /** Addresses and CIDRs; default none: every address. */
  ip_allowlist?: readonly string[] | undefined
  /** ISO 8601 with a zone, in the future; default none. */
  expires_at?: string | undefined
  /** 1 to 1,000,000; default the environment's limit. */
  rate_limit_per_minute?: number | undefined
  /** Requests under way at once, 1 to 100,000; default `limits.concurrent_per_key`. */
  max_concurrent?: number | undefined
  /** Whether the key may rotate itself without `keys:rotate` and `*`; default true. */
  self_rotation?: boolean | undefined
  /** Must be true where the gateway has terms (`server.terms_url`), and counts for nothing where it has none. */
  accept_terms?: boolean | undefined
}

export interface NewKey {
  name: string
  environment: Environment
  scopes: readonly Scope[]
  ipAllowlist: readonly string[]
  expiresAt: number | null
  rateLimitPerMinute: number | null
  maxConcurrent: number | null
  selfRotation: boolean
}

const maxName = 100
const maxAddresses = 256
const maxPerMinute = 1_000_000
const mostConcurrent = 100_000

/** @throws the Fault `validation_error` that names the field */
export function readKeyInput(input: CreateKeyInput, now: number): NewKey {
  const { environment = 'live', scopes: wanted = ['*'], ip_allowlist: list = [] } = input
  if (environment !== 'live' && environment !== 'test') {
    throw invalid('environment', 'unknown_value', 'environment must be live or test.')
  }
  return {
    name: readName(input.name),
    environment,
    scopes: readScopes(wanted),
    ipAllowlist: readAddresses(list),
    expiresAt: input.expires_at === undefined ? null : readExpiry(input.expires_at, now),
    rateLimitPerMinute: readCount(input, 'rate_limit_per_minute', maxPerMinute),
    maxConcurrent: readCount(input, 'max_concurrent', mostConcurrent),
    selfRotation: input.self_rotation ?? true
  }
}

/**
 * The record of the accepted terms. @throws the Fault `validation_error` where there are any and they were not accepted
 */
export function readTerms(
  { accept_terms: accepted }: CreateKeyInput,
  { url, at, by }: { url: string | undefined; at: number; by: string | null }
): Pick<KeyRow, 'termsUrl' | 'termsAcceptedAt' | 'termsAcceptedBy'> {
  if (url === undefined) return noTerms
  if (accepted === true) return { termsUrl: url, termsAcceptedAt: at, termsAcceptedBy: by }
  throw invalid(
    'accept_terms',
    accepted === undefined ? 'missing' : 'unknown_value',
    `accept_terms must be true: this gateway has terms of use (${url}).`
  )
}

export const noTerms = { termsUrl: null, termsAcceptedAt: null, termsAcceptedBy: null }

function readCount(
  input: CreateKeyInput,
  field: 'rate_limit_per_minute' | 'max_concurrent',
  most: number
): number | null {
  const count = input[field]
  if (count === undefined) return null
  if (Number.isInteger(count) && count >= 1 && count <= most) return count
  throw invalid(field, 'out_of_range', `${field} must be a whole number from 1 to ${most}.`)
}

function readName(name: string): string {
  if (name.trim() === '') throw invalid('name', 'empty', 'name must not be empty.')
  if (name.length > maxName) throw invalid('name', 'too_long', `name must have at most ${maxName} characters.`)
  // Names are printed in terminals: one with control characters could imitate another.
  if (/\p{Cc}/u.test(name)) throw invalid('name', 'invalid_format', 'name must not hold control characters.')
  return name
}

function readScopes(wanted: readonly string[]): Scope[] {
  if (wanted.length === 0) throw invalid('scopes', 'empty', 'scopes must name at least one scope.')
  const read = new Set<Scope>()
  for (const [i, scope] of wanted.entries()) {
    if (!isScope(scope)) throw invalid(`scopes.${i}`, 'unknown_value', `scopes must be among ${keyScopesTold}.`)
    read.add(scope)
  }
  return [...read]
}

function readAddresses(list: readonly string[]): string[] {
  if (list.length > maxAddresses) {
    throw invalid('ip_allowlist', 'too_long', `ip_allowlist must have at most ${maxAddresses} entries.`)
  }
  for (const [i, entry] of list.entries()) {
    try {
      compileAddressList([entry])
    } catch (error) {
      throw invalid(`ip_allowlist.${i}`, 'invalid_format', `ip_allowlist.${i}: ${(error as Error).message}.`)
    }
  }
  return [...list]
}

/** A whole time with its offset: a key must not end hours before or after what its owner meant. */
const wholeTime = /T\d{2}:\d{2}:\d{2}.*(Z|[+-]\d{2}:\d{2})$/

export function isWholeTime(text: string): boolean {
  return wholeTime.test(text) && parseInstant(text) !== undefined
}

function readExpiry(text: string, now: number): number {
  const at = isWholeTime(text) ? parseInstant(text) : undefined
  if (at === undefined) {
    throw invalid('expires_at', 'invalid_format', 'expires_at must be a time such as 2030-01-31T12:00:00Z.')
  }
  if (at <= now) throw invalid('expires_at', 'out_of_range', 'expires_at must lie in the future.')
  return at
}
