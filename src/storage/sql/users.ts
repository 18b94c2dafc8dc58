/** People, their sessions and invitations in SQL. */
import type { SelectQueryBuilder } from 'kysely'
import { storageCall } from '../contracts/failure.js'
import type { UserRow, UserStore } from '../contracts/user-store.js'
import { readSteps, removeSteps } from '../steps.js'
import {
  fromInvitation,
  fromSession,
  fromUser,
  toInvitation,
  toSession,
  toUser,
  type UsersTable
} from './tables/users.js'
import type { Database, Tables } from './tables.js'
import type { Write } from './write.js'

export function createSqlUsers(db: Database, write: Write): UserStore {
  const userWhere = (db: Database, wanted: Partial<UsersTable>) =>
    storageCall(async () => {
      let query = db.selectFrom('users').selectAll()
      for (const [column, value] of Object.entries(wanted)) query = query.where(column as keyof UsersTable, '=', value)
      const row = await query.executeTakeFirst()
      return row && toUser(row)
    })

  const canAdminister = ({ role, disabledAt }: UserRow) => role === 'admin' && disabledAt === null
  async function otherAdmins(db: Database, { account, userId }: UserRow): Promise<boolean> {
    const other = await db
      .selectFrom('users')
      .select('user_id')
      .where('account', '=', account)
      .where('user_id', '!=', userId)
      .where('role', '=', 'admin')
      .where('disabled_at', 'is', null)
      .limit(1)
      .executeTakeFirst()
    return other !== undefined
  }

  type Sessions = SelectQueryBuilder<Tables, 'user_sessions', object>
  const endStep = (which: (sessions: Sessions) => Sessions, limit: number) =>
    write(async (db) => {
      const ended = which(db.selectFrom('user_sessions')).select('session_id').limit(limit)
      const { numDeletedRows } = await db
        .deleteFrom('user_sessions')
        .where('session_id', 'in', ended)
        .executeTakeFirst()
      return Number(numDeletedRows)
    })

  return {
    isEmpty: () =>
      storageCall(
        async () => (await db.selectFrom('users').select('user_id').limit(1).executeTakeFirst()) === undefined
      ),
    insert: (row) =>
      write(async (db) => {
        await db.insertInto('users').values(fromUser(row)).execute()
      }),
    byLogin: (login) => userWhere(db, { login }),
    bySubject: (issuer, subject) => userWhere(db, { issuer, subject }),
    get: (account, userId) => userWhere(db, { account, user_id: userId }),
    list: (account, { after, limit } = {}) =>
      storageCall(() =>
        readSteps(
          async (last: UserRow | undefined, limit) => {
            const query = db
              .selectFrom('users')
              .selectAll()
              .where('account', '=', account)
              .orderBy('user_id')
              .limit(limit)
            const from = last?.userId ?? after
            return (await (from === undefined ? query : query.where('user_id', '>', from)).execute()).map(toUser)
          },
          { limit }
        )
      ),

    update: (account, userId, change) =>
      write(async (db) => {
        const before = await userWhere(db, { account, user_id: userId })
        if (before === undefined) return undefined
        const after = { ...before, ...change }
        if (canAdminister(before) && !canAdminister(after) && !(await otherAdmins(db, before))) return 'last_admin'
        await db.updateTable('users').set(fromUser(after)).where('user_id', '=', userId).execute()
        return after
      }, `users of ${account}`),

    invite: (row) =>
      write(async (db) => {
        await db.insertInto('invitations').values(fromInvitation(row)).execute()
      }),

    invitation: (invitationId, now) =>
      storageCall(async () => {
        const row = await db
          .selectFrom('invitations')
          .selectAll()
          .where('invitation_id', '=', invitationId)
          .where('expires_at', '>', now)
          .executeTakeFirst()
        return row && toInvitation(row)
      }),

    accept: (invitationId, now, user) =>
      write(async (db) => {
        const { numDeletedRows } = await db
          .deleteFrom('invitations')
          .where('invitation_id', '=', invitationId)
          .where('expires_at', '>', now)
          .executeTakeFirst()
        if (numDeletedRows === 0n) return false
        await db.insertInto('users').values(fromUser(user)).execute()
        return true
      }),

    addSession: (row) =>
      write(async (db) => {
        await db.insertInto('user_sessions').values(fromSession(row)).execute()
      }),

    session: (sessionId) =>
      storageCall(async () => {
        const session = await db
          .selectFrom('user_sessions')
          .selectAll()
          .where('session_id', '=', sessionId)
          .executeTakeFirst()
        const user = session && (await userWhere(db, { user_id: session.user_id }))
        return session && user && { session: toSession(session), user }
      }),

    touchSession: (sessionId, { seenAt, confirmedAt }) =>
      write(async (db) => {
        const moves = [
          ['seen_at', seenAt],
          ['confirmed_at', confirmedAt]
        ] as const
        for (const [column, at] of moves) {
          if (at === undefined) continue
          await db
            .updateTable('user_sessions')
            .set({ [column]: at })
            .where('session_id', '=', sessionId)
            .where(column, '<', at)
            .execute()
        }
      }),

    endSession: (sessionId) =>
      write(async (db) => {
        await db.deleteFrom('user_sessions').where('session_id', '=', sessionId).execute()
      }),

    endSessions: (userId, except) =>
      removeSteps((limit) =>
        endStep((query) => {
          const own = query.where('user_id', '=', userId)
          return except === undefined ? own : own.where('session_id', '!=', except)
        }, limit)
      ),

    async purge({ createdBefore, seenBefore, now }) {
      await removeSteps((limit) => endStep((query) => query.where('created_at', '<', createdBefore), limit))
      await removeSteps((limit) => endStep((query) => query.where('seen_at', '<', seenBefore), limit))
      await removeSteps((limit) =>
        write(async (db) => {
          const over = db.selectFrom('invitations').select('invitation_id').where('expires_at', '<=', now).limit(limit)
          const { numDeletedRows } = await db
            .deleteFrom('invitations')
            .where('invitation_id', 'in', over)
            .executeTakeFirst()
          return Number(numDeletedRows)
        })
      )
    }
  }
}
