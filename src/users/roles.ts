/** The rights of people, as scopes of the API. Signed-in people cannot evaluate or chat, which needs a key. */

import type { UserRole } from '../base/settings.js'
import type { Scope } from '../identity/scopes.js'
import type { UserRow } from '../storage/contracts/users.js'

const reads: readonly Scope[] = ['safety:metrics', 'constitutions:read', 'billing:read']

const ofRole: Readonly<Record<UserRole, readonly Scope[]>> = Object.freeze({
  viewer: reads,
  reviewer: [...reads, 'pdp:adjudicate'],
  admin: ['*']
})

/** Reading samples is a separate right: no role includes access to people's texts. */
export function scopesOf({ role, readsSamples }: Pick<UserRow, 'role' | 'readsSamples'>): readonly Scope[] {
  return readsSamples ? [...ofRole[role], 'samples:read'] : ofRole[role]
}
