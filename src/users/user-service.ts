/**
 * The service of an account's people: invites them by a link that works once, gives roles, and disables rather than
 * deletes.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.js'
import { Fault, invalid } from '../base/errors.js'
import { isId, newId } from '../base/ids.js'
import type { UserRole } from '../base/people-settings.js'
import { isoTime } from '../base/units.js'
import type { Actor } from '../identity/caller.js'
import { holds, insufficientScope } from '../identity/scopes.js'
import type { AuditStore } from '../storage/contracts/audit.js'
import { Conflict } from '../storage/contracts/failure.js'
import type { UserChange, UserRow, UserStore } from '../storage/contracts/users.js'
import { checkPassword, hashPassword } from './password.js'
import { idOf } from './session-service.js'
import { loginOf, type SignedIn, type UserRecord, userRecord } from './user.js'

export interface UserServiceDeps {
  users: UserStore
  audit: Pick<AuditStore, 'append'>
  clock: Clock
}

/** An unused invitation, as administrators see it. Times are ISO 8601 UTC. */
export interface InvitationRecord {
  /** SHA-256 of its token, hex, which is no credential. */
  invitation_id: string
  role: UserRole
  reads_samples: boolean
  created_at: string
  expires_at: string
  /** A key or a user; null for the first administrator's. */
  created_by: string | null
}

/** How long a link is valid. */
const invitationMs = 24 * 3_600_000

export class UserService {
  readonly #deps: UserServiceDeps

  constructor(deps: UserServiceDeps) {
    this.#deps = deps
  }

  /** The token of the first administrator's link; undefined where a user exists already. */
  async firstInvitation(account: string): Promise<string | undefined> {
    if (!(await this.#deps.users.isEmpty())) return undefined
    return (await this.invite({ accountId: account, scopes: ['*'] }, 'admin')).token
  }

  /** @returns a token that appears only in this answer; its first user gets that role */
  async invite(
    actor: Actor,
    role: UserRole,
    readsSamples = false
  ): Promise<{ token: string; role: UserRole; reads_samples: boolean; expires_at: string }> {
    requireAdmin(actor)
    if (readsSamples) requirePerson(actor)
    const { users, clock } = this.#deps
    const now = clock.now()
    const token = randomBytes(32).toString('base64url')
    const expiresAt = now + invitationMs
    const createdBy = actor.keyId ?? null
    await users.invite({
      invitationId: idOf(token),
      account: actor.accountId,
      role,
      readsSamples,
      createdAt: now,
      expiresAt,
      createdBy
    })
    this.#audit('user.invited', actor.accountId, createdBy, null, { role, reads_samples: readsSamples })
    return { token, role, reads_samples: readsSamples, expires_at: isoTime(expiresAt) }
  }

  /** The unused invitations, without their tokens, which are not stored. */
  async invitations(actor: Actor): Promise<InvitationRecord[]> {
    requireAdmin(actor)
    const { users, clock } = this.#deps
    const rows = await users.invitations(actor.accountId, clock.now())
    return rows.map(({ invitationId, role, readsSamples, createdAt, expiresAt, createdBy }) => ({
      invitation_id: invitationId,
      role,
      reads_samples: readsSamples,
      created_at: isoTime(createdAt),
      expires_at: isoTime(expiresAt),
      created_by: createdBy
    }))
  }

  /** Makes its link invalid. */
  async withdraw(actor: Actor, invitationId: string): Promise<void> {
    requireAdmin(actor)
    if (!(await this.#deps.users.withdraw(actor.accountId, invitationId)))
      throw new Fault('not_found', { message: 'There is no such invitation.' })
    this.#audit('user.invitation_withdrawn', actor.accountId, actor.keyId ?? null, null, { invitation: invitationId })
  }

  /** @throws Fault `invitation_invalid` for a link that is unknown, used or expired; `login_taken` */
  async accept(input: { token: string; login: string; password: string }): Promise<UserRow> {
    const { users, clock } = this.#deps
    const login = readLogin(input.login)
    checkNewPassword(input.password, login)
    const now = clock.now()
    const invitation = await users.invitation(idOf(input.token), now)
    // Looked up before a password is hashed, so that an invalid link costs nothing.
    if (invitation === undefined) throw new Fault('invitation_invalid')
    const user = newUser(invitation.account, login, invitation, now, {
      passwordHash: await hashPassword(input.password)
    })
    const accepted = await users.accept(invitation.invitationId, now, user).catch((error: unknown) => {
      throw error instanceof Conflict ? new Fault('login_taken') : error
    })
    if (!accepted) throw new Fault('invitation_invalid')
    const data = { role: user.role, reads_samples: user.readsSamples, invited_by: invitation.createdBy }
    this.#audit('user.created', user.account, user.userId, user.userId, data)
    return user
  }

  /**
   * The user authenticated by a provider: stored at the first sign-in, with the role that the provider gives now.
   * @returns undefined where that user is disabled
   */
  async vouched(claim: {
    account: string
    issuer: string
    subject: string
    login: string
    role: UserRole
    /** Undefined: the provider does not say. */
    readsSamples?: boolean | undefined
  }): Promise<UserRow | undefined> {
    const { users, clock } = this.#deps
    const { account, issuer, subject, role, readsSamples } = claim
    const known = await users.bySubject(issuer, subject)
    if (known !== undefined) {
      if (known.disabledAt !== null) return undefined
      const rights = { role, readsSamples: readsSamples ?? known.readsSamples }
      if (known.role === role && known.readsSamples === rights.readsSamples) return known
      const changed = await users.update(known.account, known.userId, rights)
      // The last administrator keeps the role, whatever the provider says.
      if (changed === 'last_admin' || changed === undefined) return known
      this.#audit('user.changed', account, known.userId, known.userId, { ...told(rights), by: 'oidc' })
      return changed
    }
    for (const login of [claim.login.toLowerCase(), `${subject}@${new URL(issuer).host}`.toLowerCase()]) {
      const user = newUser(account, login.slice(0, 100), { role, readsSamples: readsSamples ?? false }, clock.now(), {
        issuer,
        subject
      })
      try {
        await users.insert(user)
        this.#audit('user.created', account, user.userId, user.userId, { ...told(user), by: 'oidc' })
        return user
      } catch (error) {
        // Another user has that login here: a provider's name must never sign in as them.
        if (!(error instanceof Conflict)) throw error
      }
    }
    throw new Fault('login_taken')
  }

  /** Complete without a limit; `cursor` is exclusive: the last `next_cursor`. */
  async list(
    actor: Actor,
    { limit, cursor }: { limit?: number | undefined; cursor?: string | undefined } = {}
  ): Promise<{ users: UserRecord[]; next_cursor?: string }> {
    requireAdmin(actor)
    // One more than asked for tells whether there is a next page.
    const page = { after: cursor, limit: limit === undefined ? undefined : limit + 1 }
    const rows = await this.#deps.users.list(actor.accountId, page)
    const users = rows.slice(0, limit).map(userRecord)
    return rows.length > users.length ? { users, next_cursor: users.at(-1)!.user_id } : { users }
  }

  /** A disabled user is signed out everywhere at once. @throws Fault `last_admin` */
  async change(
    actor: Actor,
    userId: string,
    wanted: { role?: UserRole; reads_samples?: boolean; disabled?: boolean }
  ): Promise<UserRecord> {
    requireAdmin(actor)
    if (wanted.reads_samples === true) requirePerson(actor)
    const { users, clock } = this.#deps
    const change: UserChange = {}
    if (wanted.role !== undefined) change.role = wanted.role
    if (wanted.reads_samples !== undefined) change.readsSamples = wanted.reads_samples
    if (wanted.disabled !== undefined) change.disabledAt = wanted.disabled ? clock.now() : null
    const row = isId('usr', userId) ? await users.update(actor.accountId, userId, change) : undefined
    if (row === undefined) throw new Fault('not_found', { message: 'There is no such user.' })
    if (row === 'last_admin') throw new Fault('last_admin')
    if (wanted.disabled === true) await users.endSessions(userId)
    this.#audit('user.changed', actor.accountId, actor.keyId ?? null, userId, { ...wanted })
    return userRecord(row)
  }

  /**
   * For a person who has just confirmed the old one. Ends every other session, so that a thief of the old password is
   * signed out.
   */
  async changePassword({ user, session }: SignedIn, password: string): Promise<void> {
    const { users } = this.#deps
    checkNewPassword(password, user.login)
    await users.update(user.account, user.userId, { passwordHash: await hashPassword(password) })
    await users.endSessions(user.userId, session.sessionId)
    this.#audit('user.password_changed', user.account, user.userId, user.userId, {})
  }

  #audit(
    kind: string,
    account: string,
    by: string | null,
    subject: string | null,
    data: Record<string, unknown>
  ): void {
    const { audit, clock } = this.#deps
    audit.append({ at: clock.now(), kind, account, keyId: by, subject, data })
  }
}

type Rights = Pick<UserRow, 'role' | 'readsSamples'>

function told({ role, readsSamples }: Rights) {
  return { role, reads_samples: readsSamples }
}

function newUser(
  account: string,
  login: string,
  { role, readsSamples }: Rights,
  now: number,
  proof: Partial<Pick<UserRow, 'passwordHash' | 'issuer' | 'subject'>>
): UserRow {
  return {
    userId: newId('usr', now),
    account,
    login,
    role,
    readsSamples,
    passwordHash: null,
    issuer: null,
    subject: null,
    createdAt: now,
    signedInAt: null,
    disabledAt: null,
    ...proof
  }
}

function readLogin(text: string): string {
  const login = loginOf(text)
  if (login === undefined) {
    throw invalid('login', 'invalid_format', 'login must have 2 to 100 letters, digits or . _ @ + -, as in an address.')
  }
  return login
}

function checkNewPassword(password: string, login: string): void {
  checkPassword(password)
  if (password.toLowerCase().includes(login)) {
    throw invalid('password', 'invalid_format', 'password must not contain the login.')
  }
}

function requireAdmin(actor: Actor): void {
  if (!holds(actor.scopes, '*')) throw insufficientScope('*', actor.scopes)
}

/** Requires a person, or the command line: a key that could grant people a right would in effect have it. */
function requirePerson({ keyId, scopes }: Actor): void {
  if (keyId !== undefined && !isId('usr', keyId)) throw insufficientScope('samples:read', scopes)
}
