/** Admission of signed-in people on routes that accept them without a key. */
import type { IncomingMessage } from 'node:http'
import { Fault } from '../base/errors.js'
import { holds, insufficientScope } from '../identity/scopes.js'
import type { SessionService } from '../users/session-service.js'
import type { SignedIn } from '../users/user.js'
import { cookiesOf, readCookie } from './cookies.js'
import type { Access } from './facts.js'
import { crossSiteFault, type Passage } from './same-site.js'

export interface PeopleAdmission {
  /** Whether a request carries a sign-in and no key; a key takes precedence. */
  presents(request: IncomingMessage, access: Access): boolean
  admit(request: IncomingMessage, access: Access): Promise<SignedIn | Fault>
  /** How the sign-in was sent: safely, in the clear, or a refusal. */
  passage(request: IncomingMessage): Passage
}

export function createPeopleAdmission(sessions: SessionService, passage: PeopleAdmission['passage']): PeopleAdmission {
  return {
    presents(request, access) {
      const { headers } = request
      if (access.posture === 'person') return true
      if (access.people === undefined) return false
      const hasKey = headers['x-api-key'] !== undefined || headers.authorization !== undefined
      return !hasKey && readCookie(headers.cookie, cookiesOf(passage(request)).session) !== undefined
    },

    async admit(request, access) {
      const way = passage(request)
      if (way instanceof Fault) return way
      const fault = crossSiteFault(request)
      if (fault !== undefined) return fault
      const token = readCookie(request.headers.cookie, cookiesOf(way).session)
      const signedIn = token === undefined ? undefined : await sessions.find(token)
      if (signedIn === undefined) return new Fault('sign_in_required')
      const { scopes } = signedIn.caller
      if (access.scope !== undefined && !holds(scopes, access.scope)) return insufficientScope(access.scope, scopes)
      if (access.people === 'confirmed') sessions.requireConfirmed(signedIn)
      return signedIn
    },

    passage
  }
}
