/** The contract of the store of people who sign in. `index.ts` has the rules of all contracts. */
import type { UserRole } from '../../base/settings.js'

export type { UserRole } from '../../base/settings.js'

export interface UserRow {
  userId: string
  account: string
  /** The login name, in lower case; unique over all accounts. */
  login: string
  role: UserRole
  /** Whether this person may read samples, whatever the role: see `users/roles.ts`. */
  readsSamples: boolean
  /** See `users/password.ts`. Null: signs in elsewhere. */
  passwordHash: string | null
  /** OpenID Connect's `iss` and `sub` of this person; both or neither, unique together. */
  issuer: string | null
  subject: string | null
  createdAt: number
  signedInAt: number | null
  disabledAt: number | null
}

/** A browser that is signed in. The token itself is nowhere but in the browser. */
export interface SessionRow {
  /** SHA-256 of the token, hex. */
  sessionId: string
  userId: string
  createdAt: number
  /** Updated with requests, within a minute. */
  seenAt: number
  /** When this person last confirmed their identity. */
  confirmedAt: number
}

export interface InvitationRow {
  /** SHA-256 of the token of the link, hex. */
  invitationId: string
  account: string
  role: UserRole
  readsSamples: boolean
  createdAt: number
  expiresAt: number
  createdBy: string | null
}

/** Changeable fields of a user. */
export type UserChange = Partial<Pick<UserRow, 'role' | 'readsSamples' | 'passwordHash' | 'disabledAt' | 'signedInAt'>>

export interface UserStore {
  isEmpty(): Promise<boolean>
  /** Rejects with `Conflict` where the login, or issuer and subject, is taken. */
  insert(row: UserRow): Promise<void>
  byLogin(login: string): Promise<UserRow | undefined>
  bySubject(issuer: string, subject: string): Promise<UserRow | undefined>
  get(account: string, userId: string): Promise<UserRow | undefined>
  /** In order of creation; `after` is an exclusive id. Complete without a limit. */
  list(account: string, page?: { after?: string | undefined; limit?: number | undefined }): Promise<UserRow[]>
  /**
   * Undefined: no such user in this account. `last_admin`: nothing changed, since no administrator who may sign in
   * would remain. Checked and written atomically, so that two administrators cannot remove each other.
   */
  update(account: string, userId: string, change: UserChange): Promise<UserRow | 'last_admin' | undefined>

  invite(row: InvitationRow): Promise<void>
  invitation(invitationId: string, now: number): Promise<InvitationRow | undefined>
  /** Unused invitations that are not expired at `now`, oldest first. */
  invitations(account: string, now: number): Promise<InvitationRow[]>
  /** False where it is used, withdrawn or of another account. */
  withdraw(account: string, invitationId: string): Promise<boolean>
  /** In one transaction uses up the invitation and stores the user; false where it is used or expired. Rejects with `Conflict` as `insert`. */
  accept(invitationId: string, now: number, user: UserRow): Promise<boolean>

  addSession(row: SessionRow): Promise<void>
  /** With its user, disabled or not. */
  session(sessionId: string): Promise<{ session: SessionRow; user: UserRow } | undefined>
  /** Moves times forward, never back. */
  touchSession(sessionId: string, change: { seenAt?: number; confirmedAt?: number }): Promise<void>
  endSession(sessionId: string): Promise<void>
  /** Ends every session of a user, except the named one. @returns their number */
  endSessions(userId: string, except?: string): Promise<number>
  /** Removes sessions created or last seen before these moments, and invitations expired at `now`. */
  purge(limits: { createdBefore: number; seenBefore: number; now: number }): Promise<void>
}
