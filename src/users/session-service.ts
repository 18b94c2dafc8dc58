/** The service of sign-in sessions: they are in the store, and a browser has only a random token. */
import { hash, randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.js'
import { Fault } from '../base/errors.js'
import type { SignInSettings } from '../base/settings.js'
import type { AuditStore } from '../storage/contracts/audit.js'
import type { UserRow, UserStore } from '../storage/contracts/users.js'
import { passwordMatches } from './password.js'
import type { Attempt, Throttle } from './throttle.js'
import { callerOfUser, loginOf, type SignedIn } from './user.js'

type SessionSettings = Pick<SignInSettings, 'idleMs' | 'absoluteMs' | 'confirmMs'>

export interface SessionServiceDeps {
  users: UserStore
  audit: Pick<AuditStore, 'append'>
  clock: Clock
  throttle: Throttle
  /** Read at each use. */
  settings: SessionSettings
}

/** How far the stored time of the last request may lag, so that a page that asks every second costs a write a minute. */
const touchEveryMs = 60_000
const tokenForm = /^[A-Za-z0-9_-]{43}$/

export class SessionService {
  readonly #deps: SessionServiceDeps

  constructor(deps: SessionServiceDeps) {
    this.#deps = deps
  }

  /** @returns the token for the cookie, shown to nobody else. @throws Fault `sign_in_failed`, one for every reason, or 429 */
  async signIn(attempt: Attempt & { password: string }): Promise<{ token: string; device: string; user: UserRow }> {
    const { users, throttle } = this.#deps
    const login = loginOf(attempt.login)
    // Invalid logins are not looked up: a store could match another name than the throttle counts.
    const find = async () => (login === undefined ? undefined : users.byLogin(login))
    const user = await this.#prove({ ...attempt, login: login ?? '' }, find, 'user.sign_in_failed')
    return { ...(await this.begin(user, 'password')), device: throttle.deviceOf(user.login) }
  }

  /** Begins a session for an authenticated person. */
  async begin(user: UserRow, by: 'password' | 'oidc' | 'invitation'): Promise<{ token: string; user: UserRow }> {
    const { users, clock } = this.#deps
    const now = clock.now()
    const token = randomBytes(32).toString('base64url')
    await users.addSession({
      sessionId: idOf(token),
      userId: user.userId,
      createdAt: now,
      seenAt: now,
      confirmedAt: now
    })
    await users.update(user.account, user.userId, { signedInAt: now })
    this.#audit('user.signed_in', user, { by })
    return { token, user }
  }

  /** Undefined: unknown, ended, timed out, or of a person who may no longer sign in; callers do not learn which. */
  async find(token: string): Promise<SignedIn | undefined> {
    if (!tokenForm.test(token)) return undefined
    const { users, clock, settings } = this.#deps
    const found = await users.session(idOf(token))
    if (found === undefined || found.user.disabledAt !== null) return undefined
    const { session, user } = found
    const now = clock.now()
    if (now >= session.createdAt + settings.absoluteMs || now >= session.seenAt + settings.idleMs) {
      await users.endSession(session.sessionId)
      return undefined
    }
    if (now >= session.seenAt + Math.min(touchEveryMs, settings.idleMs / 4)) {
      await users.touchSession(session.sessionId, { seenAt: now })
      session.seenAt = now
    }
    return { user, session, caller: callerOfUser(user) }
  }

  /** The end of the session without further requests, and of its fresh confirmation; ms. */
  limitsOf({ session }: SignedIn): { endsAt: number; confirmedUntil: number } {
    const { idleMs, absoluteMs, confirmMs } = this.#deps.settings
    return {
      endsAt: Math.min(session.createdAt + absoluteMs, session.seenAt + idleMs),
      confirmedUntil: session.confirmedAt + confirmMs
    }
  }

  /** @throws Fault `confirmation_required` where the last confirmation is too old */
  requireConfirmed(signedIn: SignedIn): void {
    if (this.#deps.clock.now() >= this.limitsOf(signedIn).confirmedUntil) throw new Fault('confirmation_required')
  }

  /** Confirms the person's identity again. @throws Fault `sign_in_failed` or 429 */
  async confirm({ user, session }: SignedIn, password: string, attempt: Omit<Attempt, 'login'>): Promise<void> {
    const { users, clock } = this.#deps
    await this.#prove({ ...attempt, login: user.login, password }, async () => user, 'user.confirm_failed')
    await users.touchSession(session.sessionId, { confirmedAt: clock.now() })
    this.#audit('user.confirmed', user, { by: 'password' })
  }

  async signOut({ user, session }: SignedIn, everywhere: boolean): Promise<{ ended: number }> {
    const { users } = this.#deps
    const ended = everywhere ? await users.endSessions(user.userId) : 1
    if (!everywhere) await users.endSession(session.sessionId)
    this.#audit('user.signed_out', user, { everywhere })
    return { ended }
  }

  async purge(): Promise<void> {
    const { users, clock, settings } = this.#deps
    const now = clock.now()
    await users.purge({ createdBefore: now - settings.absoluteMs, seenBefore: now - settings.idleMs, now })
  }

  /** One fault and, as far as hashing goes, one duration for every reason. */
  async #prove(
    attempt: Attempt & { password: string },
    find: () => Promise<UserRow | undefined>,
    failure: string
  ): Promise<UserRow> {
    const end = this.#deps.throttle.begin(attempt)
    if (end instanceof Fault) throw end
    let proved = false
    try {
      const user = await find()
      const matches = await passwordMatches(attempt.password, user?.passwordHash)
      if (matches && user !== undefined && user.disabledAt === null) {
        proved = true
        return user
      }
      this.#audit(failure, user ?? { account: null, userId: null }, { address: attempt.address })
      throw new Fault('sign_in_failed')
    } finally {
      end(proved)
    }
  }

  #audit(
    kind: string,
    { account, userId }: { account: string | null; userId: string | null },
    data: Record<string, unknown>
  ): void {
    const { audit, clock } = this.#deps
    audit.append({ at: clock.now(), kind, account, keyId: userId, subject: userId, data })
  }
}

export function idOf(token: string): string {
  return hash('sha256', token, 'hex')
}
