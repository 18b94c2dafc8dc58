/** People, their sessions and invitations in SQL. */
import type { SelectQueryBuilder } from 'kysely'
import { storageCall } from '../contracts/failure.js'
import type { InvitationRow, UserRow, UserStore } from '../contracts/users.js'
import type { Write } from './database.js'
import { readSteps, removeSteps } from './steps.js'
import type { Database, InvitationColumns, Tables, UserColumns } from './tables.js'

/** Invitations that one list shows: each lasts a day, and the oldest end first. */
const maxListed = 1_000

/** Truth values are 0 and 1 in the database. */
const fromRow = <R extends { readsSamples: boolean }>(row: R) => ({ ...row, readsSamples: row.readsSamples ? 1 : 0 })
const toUser = (row: UserColumns): UserRow => ({ ...row, readsSamples: row.readsSamples !== 0 })
const toInvitation = (row: InvitationColumns): InvitationRow => ({ ...row, readsSamples: row.readsSamples !== 0 })

export function createSqlUsers(db: Database, write: Write): UserStore {
  const userWhere = (db: Database, wanted: Partial<Omit<UserRow, 'readsSamples'>>) =>
    storageCall(async () => {
      let query = db.selectFrom('users').selectAll()
      for (const [column, value] of Object.entries(wanted))
        query = query.where(column as keyof typeof wanted, '=', value)
      const row = await query.executeTakeFirst()
      return row && toUser(row)
    })

  const canAdminister = ({ role, disabledAt }: UserRow) => role === 'admin' && disabledAt === null
  async function otherAdmins(db: Database, { account, userId }: UserRow): Promise<boolean> {
    const other = await db
      .selectFrom('users')
      .select('userId')
      .where('account', '=', account)
      .where('userId', '!=', userId)
      .where('role', '=', 'admin')
      .where('disabledAt', 'is', null)
      .limit(1)
      .executeTakeFirst()
    return other !== undefined
  }

  type Sessions = SelectQueryBuilder<Tables, 'userSessions', object>
  const endStep = (which: (sessions: Sessions) => Sessions, limit: number) =>
    write(async (db) => {
      const ended = which(db.selectFrom('userSessions')).select('sessionId').limit(limit)
      const { numDeletedRows } = await db.deleteFrom('userSessions').where('sessionId', 'in', ended).executeTakeFirst()
      return Number(numDeletedRows)
    })

  return {
    isEmpty: () =>
      storageCall(
        async () => (await db.selectFrom('users').select('userId').limit(1).executeTakeFirst()) === undefined
      ),
    insert: (row) =>
      write(async (db) => {
        await db.insertInto('users').values(fromRow(row)).execute()
      }),
    byLogin: (login) => userWhere(db, { login }),
    bySubject: (issuer, subject) => userWhere(db, { issuer, subject }),
    get: (account, userId) => userWhere(db, { account, userId: userId }),
    list: (account, { after, limit } = {}) =>
      storageCall(() =>
        readSteps(
          async (last: UserRow | undefined, limit) => {
            const query = db
              .selectFrom('users')
              .selectAll()
              .where('account', '=', account)
              .orderBy('userId')
              .limit(limit)
            const from = last?.userId ?? after
            const rows = await (from === undefined ? query : query.where('userId', '>', from)).execute()
            return rows.map(toUser)
          },
          { limit }
        )
      ),

    update: (account, userId, change) =>
      write(async (db) => {
        const before = await userWhere(db, { account, userId: userId })
        if (before === undefined) return undefined
        const after = { ...before, ...change }
        if (canAdminister(before) && !canAdminister(after) && !(await otherAdmins(db, before))) return 'last_admin'
        await db.updateTable('users').set(fromRow(after)).where('userId', '=', userId).execute()
        return after
      }, `users of ${account}`),

    invite: (row) =>
      write(async (db) => {
        await db.insertInto('invitations').values(fromRow(row)).execute()
      }),

    invitation: (invitationId, now) =>
      storageCall(async () => {
        const row = await db
          .selectFrom('invitations')
          .selectAll()
          .where('invitationId', '=', invitationId)
          .where('expiresAt', '>', now)
          .executeTakeFirst()
        return row && toInvitation(row)
      }),

    invitations: (account, now) =>
      storageCall(async () => {
        const rows = await db
          .selectFrom('invitations')
          .selectAll()
          .where('account', '=', account)
          .where('expiresAt', '>', now)
          .orderBy('expiresAt')
          .limit(maxListed)
          .execute()
        return rows.map(toInvitation)
      }),

    withdraw: (account, invitationId) =>
      write(async (db) => {
        const { numDeletedRows } = await db
          .deleteFrom('invitations')
          .where('account', '=', account)
          .where('invitationId', '=', invitationId)
          .executeTakeFirst()
        return numDeletedRows > 0n
      }),

    accept: (invitationId, now, user) =>
      write(async (db) => {
        const { numDeletedRows } = await db
          .deleteFrom('invitations')
          .where('invitationId', '=', invitationId)
          .where('expiresAt', '>', now)
          .executeTakeFirst()
        if (numDeletedRows === 0n) return false
        await db.insertInto('users').values(fromRow(user)).execute()
        return true
      }),

    addSession: (row) =>
      write(async (db) => {
        await db.insertInto('userSessions').values(row).execute()
      }),

    session: (sessionId) =>
      storageCall(async () => {
        const session = await db
          .selectFrom('userSessions')
          .selectAll()
          .where('sessionId', '=', sessionId)
          .executeTakeFirst()
        const user = session && (await userWhere(db, { userId: session.userId }))
        return session && user && { session, user }
      }),

    touchSession: (sessionId, { seenAt, confirmedAt }) =>
      write(async (db) => {
        const moves = [
          ['seenAt', seenAt],
          ['confirmedAt', confirmedAt]
        ] as const
        for (const [column, at] of moves) {
          if (at === undefined) continue
          await db
            .updateTable('userSessions')
            .set({ [column]: at })
            .where('sessionId', '=', sessionId)
            .where(column, '<', at)
            .execute()
        }
      }),

    endSession: (sessionId) =>
      write(async (db) => {
        await db.deleteFrom('userSessions').where('sessionId', '=', sessionId).execute()
      }),

    endSessions: (userId, except) =>
      removeSteps((limit) =>
        endStep((query) => {
          const own = query.where('userId', '=', userId)
          return except === undefined ? own : own.where('sessionId', '!=', except)
        }, limit)
      ),

    async purge({ createdBefore, seenBefore, now }) {
      await removeSteps((limit) => endStep((query) => query.where('createdAt', '<', createdBefore), limit))
      await removeSteps((limit) => endStep((query) => query.where('seenAt', '<', seenBefore), limit))
      await removeSteps((limit) =>
        write(async (db) => {
          const over = db.selectFrom('invitations').select('invitationId').where('expiresAt', '<=', now).limit(limit)
          const { numDeletedRows } = await db
            .deleteFrom('invitations')
            .where('invitationId', 'in', over)
            .executeTakeFirst()
          return Number(numDeletedRows)
        })
      )
    }
  }
}
