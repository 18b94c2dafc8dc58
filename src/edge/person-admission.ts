/** Admission of someone who is signed in, where a route lets them in the place of a key. */
import type { IncomingMessage } from 'node:http'
import { Fault } from '../base/errors.js'
import { holds, insufficientScope } from '../identity/scopes.js'
import type { SessionService } from '../users/session-service.js'
import type { SignedIn } from '../users/user.js'
import { readCookie, sessionCookie } from './cookies.js'
import type { Access } from './facts.js'
import { crossSiteFault } from './same-site.js'

export interface PeopleAdmission {
  /** Whether a request comes with a sign-in and not with a key, which comes first. */
  presents(request: IncomingMessage, access: Access): boolean
  admit(request: IncomingMessage, access: Access): Promise<SignedIn | Fault>
  /** Refuses what travels in the clear. */
  insecure(request: IncomingMessage): Fault | undefined
}

export function createPeopleAdmission(
  sessions: SessionService,
  insecure: PeopleAdmission['insecure']
): PeopleAdmission {
  return {
    presents({ headers }, access) {
      if (access.posture === 'person') return true
      if (access.people === undefined) return false
      const hasKey = headers['x-api-key'] !== undefined || headers.authorization !== undefined
      return !hasKey && readCookie(headers.cookie, sessionCookie) !== undefined
    },

    async admit(request, access) {
      const fault = insecure(request) ?? crossSiteFault(request)
      if (fault !== undefined) return fault
      const token = readCookie(request.headers.cookie, sessionCookie)
      const signedIn = token === undefined ? undefined : await sessions.find(token)
      if (signedIn === undefined) return new Fault('sign_in_required')
      const { scopes } = signedIn.caller
      if (access.scope !== undefined && !holds(scopes, access.scope)) return insufficientScope(access.scope, scopes)
      if (access.people === 'confirmed') sessions.requireConfirmed(signedIn)
      return signedIn
    },

    insecure
  }
}
