/** Exceptions in SQL. */
import type { ExceptionStore } from '../contracts/exception-store.js'
import { storageCall } from '../contracts/failure.js'
import { readSteps } from '../steps.js'
import { type ExceptionsTable, fromException, toException } from './tables/exceptions.js'
import type { Database } from './tables.js'
import type { Write } from './write.js'

export function createSqlExceptions(db: Database, write: Write): ExceptionStore {
  const newestFirst = (db: Database) => db.selectFrom('exceptions').selectAll().orderBy('exception_id', 'desc')

  return {
    propose: (row) =>
      write(async (db) => {
        const same = await newestFirst(db)
          .where('account', '=', row.account)
          .where('evaluation_id', '=', row.evaluationId)
          .where('state', '=', 'proposed')
          .limit(1)
          .executeTakeFirst()
        if (same !== undefined) return { exceptionId: same.exception_id, created: false }
        await db.insertInto('exceptions').values(fromException(row)).execute()
        return { exceptionId: row.exceptionId, created: true }
      }, `exception ${row.evaluationId}`),

    get: (exceptionId) =>
      storageCall(async () => {
        const row = await newestFirst(db).where('exception_id', '=', exceptionId).executeTakeFirst()
        return row && toException(row)
      }),

    list: ({ state, after, limit }) =>
      storageCall(async () => {
        let query = newestFirst(db).limit(limit)
        if (state !== undefined) query = query.where('state', '=', state)
        if (after !== undefined) query = query.where('exception_id', '<', after)
        return (await query.execute()).map(toException)
      }),

    decide: (exceptionId, from, { state, scope, decidedBy, decidedAt, expiresAt }) =>
      write(async (db) => {
        const { numUpdatedRows } = await db
          .updateTable('exceptions')
          .set({ state, scope, decided_by: decidedBy, decided_at: decidedAt, expires_at: expiresAt })
          .where('exception_id', '=', exceptionId)
          .where('state', '=', from)
          .executeTakeFirst()
        return numUpdatedRows === 1n
      }),

    active: (now) =>
      storageCall(async () => {
        const rows = await readSteps((last: ExceptionsTable | undefined, limit) => {
          const query = db
            .selectFrom('exceptions')
            .selectAll()
            .where('state', '=', 'accepted')
            .where('expires_at', '>=', last?.expires_at ?? now + 1)
            .orderBy('expires_at')
            .orderBy('exception_id')
            .limit(limit)
          return last === undefined
            ? query.execute()
            : query
                .where(({ eb, refTuple, tuple }) =>
                  eb(refTuple('expires_at', 'exception_id'), '>', tuple(last.expires_at, last.exception_id))
                )
                .execute()
        })
        return rows.map(toException)
      })
  }
}
