/** What people may do, as the scopes of the API. Nobody signed in evaluates or chats: that takes a key. */

import type { UserRole } from '../base/settings.js'
import type { Scope } from '../identity/scopes.js'

const reads: readonly Scope[] = ['safety:metrics', 'constitutions:read', 'billing:read']

export const scopesOf: Readonly<Record<UserRole, readonly Scope[]>> = Object.freeze({
  viewer: reads,
  reviewer: [...reads, 'pdp:adjudicate'],
  admin: ['*']
})
