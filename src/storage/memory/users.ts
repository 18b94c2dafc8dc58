/** People, their sessions and invitations in this process. */
import { Conflict } from '../contracts/failure.js'
import type { InvitationRow, SessionRow, UserRow, UserStore } from '../contracts/user-store.js'

export function createMemoryUsers(call: <T>(work: () => T) => Promise<T>): UserStore {
  const users = new Map<string, UserRow>()
  const sessions = new Map<string, SessionRow>()
  const invitations = new Map<string, InvitationRow>()

  const find = (wanted: (user: UserRow) => boolean) => structuredClone([...users.values()].find(wanted))
  const canAdminister = ({ role, disabledAt }: UserRow) => role === 'admin' && disabledAt === null

  function insert(row: UserRow): void {
    const isTaken = ({ userId, login, issuer, subject }: UserRow) =>
      userId === row.userId ||
      login === row.login ||
      (issuer !== null && issuer === row.issuer && subject === row.subject)
    if ([...users.values()].some(isTaken)) throw new Conflict('a unique value is taken')
    users.set(row.userId, structuredClone(row))
  }

  return {
    isEmpty: () => call(() => users.size === 0),
    insert: (row) => call(() => insert(row)),
    byLogin: (login) => call(() => find((user) => user.login === login)),
    bySubject: (issuer, subject) => call(() => find((user) => user.issuer === issuer && user.subject === subject)),
    get: (account, userId) => call(() => find((user) => user.account === account && user.userId === userId)),
    list: (account, { after, limit } = {}) =>
      call(() =>
        structuredClone(
          [...users.values()]
            .filter((user) => user.account === account && (after === undefined || user.userId > after))
            .sort((a, b) => (a.userId < b.userId ? -1 : 1))
            .slice(0, limit)
        )
      ),
    update: (account, userId, change) =>
      call(() => {
        const before = users.get(userId)
        if (before?.account !== account) return undefined
        const after = { ...before, ...change }
        const others = [...users.values()].filter((user) => user.account === account && user.userId !== userId)
        if (canAdminister(before) && !canAdminister(after) && !others.some(canAdminister)) return 'last_admin'
        users.set(userId, after)
        return structuredClone(after)
      }),

    invite: (row) => call(() => void invitations.set(row.invitationId, structuredClone(row))),
    invitation: (invitationId, now) =>
      call(() => {
        const row = invitations.get(invitationId)
        return row !== undefined && row.expiresAt > now ? structuredClone(row) : undefined
      }),
    accept: (invitationId, now, user) =>
      call(() => {
        const row = invitations.get(invitationId)
        if (row === undefined || row.expiresAt <= now) return false
        insert(user)
        invitations.delete(invitationId)
        return true
      }),

    addSession: (row) => call(() => void sessions.set(row.sessionId, structuredClone(row))),
    session: (sessionId) =>
      call(() => {
        const session = sessions.get(sessionId)
        const user = session && users.get(session.userId)
        return session && user && structuredClone({ session, user })
      }),
    touchSession: (sessionId, { seenAt = 0, confirmedAt = 0 }) =>
      call(() => {
        const session = sessions.get(sessionId)
        if (session === undefined) return
        session.seenAt = Math.max(session.seenAt, seenAt)
        session.confirmedAt = Math.max(session.confirmedAt, confirmedAt)
      }),
    endSession: (sessionId) => call(() => void sessions.delete(sessionId)),
    endSessions: (userId, except) =>
      call(() => {
        const ended = [...sessions.values()].filter((row) => row.userId === userId && row.sessionId !== except)
        for (const { sessionId } of ended) sessions.delete(sessionId)
        return ended.length
      }),
    purge: ({ createdBefore, seenBefore, now }) =>
      call(() => {
        for (const { sessionId, createdAt, seenAt } of [...sessions.values()]) {
          if (createdAt < createdBefore || seenAt < seenBefore) sessions.delete(sessionId)
        }
        for (const { invitationId, expiresAt } of [...invitations.values()]) {
          if (expiresAt <= now) invitations.delete(invitationId)
        }
      })
  }
}
