/** Types of people for other rooms and clients. */

import { isoOrNull, isoTime } from '../base/units.js'
import type { Caller } from '../identity/caller.js'
import type { SessionRow, UserRow } from '../storage/contracts/users.js'
import { scopesOf } from './roles.js'

/** The signed-in person of a request. */
export interface SignedIn {
  user: UserRow
  session: SessionRow
  /** The person as a caller: `keyId`, `lineage` and the only root are the user's id. */
  caller: Caller
}

/** Times are ISO 8601 UTC. */
export interface UserRecord {
  user_id: string
  login: string
  role: UserRow['role']
  reads_samples: boolean
  status: 'active' | 'disabled'
  /** `password`, or `oidc` where another party vouches. */
  signs_in_with: 'password' | 'oidc'
  created_at: string
  signed_in_at: string | null
}

export function userRecord(row: UserRow): UserRecord {
  return {
    user_id: row.userId,
    login: row.login,
    role: row.role,
    reads_samples: row.readsSamples,
    status: row.disabledAt === null ? 'active' : 'disabled',
    signs_in_with: row.passwordHash === null ? 'oidc' : 'password',
    created_at: isoTime(row.createdAt),
    signed_in_at: isoOrNull(row.signedInAt)
  }
}

export function callerOfUser(user: UserRow): Caller {
  return {
    keyId: user.userId,
    accountId: user.account,
    scopes: scopesOf(user),
    // People are never charged or limited: counting routes accept only keys.
    environment: 'test',
    lineage: user.userId,
    roots: [user.userId],
    limitPerMinute: 0,
    maxConcurrent: 0,
    prefix: user.login
  }
}

const loginForm = /^[a-z0-9][a-z0-9._@+-]{1,99}$/

/**
 * The canonical form of a typed login, for the lookup and for counting failures.
 * @returns undefined for an invalid login
 */
export function loginOf(typed: string): string | undefined {
  const login = typed.trim().toLowerCase()
  return loginForm.test(login) ? login : undefined
}
