/** What people may do, as the scopes of the API. Nobody signed in evaluates or chats: that takes a key. */

import type { UserRole } from '../base/settings.js'
import type { Scope } from '../identity/scopes.js'
import type { UserRow } from '../storage/contracts/users.js'

const reads: readonly Scope[] = ['safety:metrics', 'constitutions:read', 'billing:read']

const ofRole: Readonly<Record<UserRole, readonly Scope[]>> = Object.freeze({
  viewer: reads,
  reviewer: [...reads, 'pdp:adjudicate'],
  admin: ['*']
})

/** Reading samples is a right of its own beside each role: what people wrote is nobody's by virtue of an office. */
export function scopesOf({ role, readsSamples }: Pick<UserRow, 'role' | 'readsSamples'>): readonly Scope[] {
  return readsSamples ? [...ofRole[role], 'samples:read'] : ofRole[role]
}
