import type { InvitationRow, SessionRow, UserRow } from '../../contracts/user-store.js'

export interface UsersTable {
  user_id: string
  account: string
  login: string
  role: UserRow['role']
  password_hash: string | null
  issuer: string | null
  subject: string | null
  created_at: number
  signed_in_at: number | null
  disabled_at: number | null
}

export interface UserSessionsTable {
  session_id: string
  user_id: string
  created_at: number
  seen_at: number
  confirmed_at: number
}

export interface InvitationsTable {
  invitation_id: string
  account: string
  role: UserRow['role']
  created_at: number
  expires_at: number
  created_by: string | null
}

export function fromUser(row: UserRow): UsersTable {
  const { userId, passwordHash, createdAt, signedInAt, disabledAt, ...same } = row
  return {
    ...same,
    user_id: userId,
    password_hash: passwordHash,
    created_at: createdAt,
    signed_in_at: signedInAt,
    disabled_at: disabledAt
  }
}

export function toUser(row: UsersTable): UserRow {
  return {
    userId: row.user_id,
    account: row.account,
    login: row.login,
    role: row.role,
    passwordHash: row.password_hash,
    issuer: row.issuer,
    subject: row.subject,
    createdAt: row.created_at,
    signedInAt: row.signed_in_at,
    disabledAt: row.disabled_at
  }
}

export function fromSession(row: SessionRow): UserSessionsTable {
  return {
    session_id: row.sessionId,
    user_id: row.userId,
    created_at: row.createdAt,
    seen_at: row.seenAt,
    confirmed_at: row.confirmedAt
  }
}

export function toSession(row: UserSessionsTable): SessionRow {
  return {
    sessionId: row.session_id,
    userId: row.user_id,
    createdAt: row.created_at,
    seenAt: row.seen_at,
    confirmedAt: row.confirmed_at
  }
}

export function fromInvitation(row: InvitationRow): InvitationsTable {
  const { invitationId, createdAt, expiresAt, createdBy, ...same } = row
  return {
    ...same,
    invitation_id: invitationId,
    created_at: createdAt,
    expires_at: expiresAt,
    created_by: createdBy
  }
}

export function toInvitation(row: InvitationsTable): InvitationRow {
  return {
    invitationId: row.invitation_id,
    account: row.account,
    role: row.role,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    createdBy: row.created_by
  }
}
