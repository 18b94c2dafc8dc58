/** Makes the row of a new key, with a new secret and its roots. */

import { newId } from '../base/ids.js'
import type { KeyRow } from '../storage/contracts/index.js'
import { generateKey, parseKey } from './key-format.js'
import { type NewKey, noTerms } from './key-input.js'

type Terms = Pick<KeyRow, 'termsUrl' | 'termsAcceptedAt' | 'termsAcceptedBy'>
type Wanted = Omit<NewKey, 'scopes'> & Pick<KeyRow, 'scopes'> & Partial<Terms>

export interface NewRow {
  key: string
  row: KeyRow
}

/** Without a lineage it is the first of its chain; without roots it is a root itself. */
interface Descent {
  lineage?: string
  createdBy: string | null
  roots: readonly string[] | undefined
}

export function newRow(account: string, wanted: Wanted, now: number, descent: Descent) {
  return rowOf(generateKey(wanted.environment), account, wanted, now, descent)
}

export function rowOf(
  key: string,
  account: string,
  wanted: Wanted,
  now: number,
  { lineage, createdBy, roots }: Descent = { createdBy: null, roots: undefined }
): NewRow {
  const { prefix, hash } = parseKey(key)!
  const keyId = newId('key', now)
  const { name, environment, scopes, ipAllowlist, expiresAt, rateLimitPerMinute, maxConcurrent, selfRotation } = wanted
  const { termsUrl, termsAcceptedAt, termsAcceptedBy } = { ...noTerms, ...wanted }
  const row: KeyRow = {
    keyId,
    account,
    lineage: lineage ?? keyId,
    prefix,
    environment,
    name,
    scopes,
    ipAllowlist,
    rateLimitPerMinute,
    maxConcurrent,
    hash,
    createdAt: now,
    lastUsedAt: null,
    expiresAt,
    revokedAt: null,
    graceEndsAt: null,
    rotatedTo: null,
    createdBy,
    roots: roots ?? [lineage ?? keyId],
    selfRotation,
    termsUrl,
    termsAcceptedAt,
    termsAcceptedBy
  }
  return { key, row }
}
