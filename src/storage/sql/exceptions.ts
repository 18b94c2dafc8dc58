/** Exceptions in SQL. */

import { storageCall } from '../contracts/failure.js'
import type { ExceptionRow, ExceptionStore } from '../contracts/reviews.js'
import type { Write } from './database.js'
import { readSteps } from './steps.js'
import type { Database, ExceptionColumns } from './tables.js'

function fromException({ rules, fingerprints, ...same }: ExceptionRow): ExceptionColumns {
  return { ...same, rules: JSON.stringify(rules), fingerprints: JSON.stringify(fingerprints) }
}

function toException({ rules, fingerprints, ...same }: ExceptionColumns): ExceptionRow {
  return { ...same, rules: JSON.parse(rules), fingerprints: JSON.parse(fingerprints) }
}

export function createSqlExceptions(db: Database, write: Write): ExceptionStore {
  const newestFirst = (db: Database) => db.selectFrom('exceptions').selectAll().orderBy('exceptionId', 'desc')

  return {
    propose: (row) =>
      write(async (db) => {
        const same = await newestFirst(db)
          .where('account', '=', row.account)
          .where('evaluationId', '=', row.evaluationId)
          .where('state', '=', 'proposed')
          .limit(1)
          .executeTakeFirst()
        if (same !== undefined) return { exceptionId: same.exceptionId, created: false }
        await db.insertInto('exceptions').values(fromException(row)).execute()
        return { exceptionId: row.exceptionId, created: true }
      }, `exception ${row.evaluationId}`),

    get: (exceptionId) =>
      storageCall(async () => {
        const row = await newestFirst(db).where('exceptionId', '=', exceptionId).executeTakeFirst()
        return row && toException(row)
      }),

    list: ({ state, after, limit }) =>
      storageCall(async () => {
        let query = newestFirst(db).limit(limit)
        if (state !== undefined) query = query.where('state', '=', state)
        if (after !== undefined) query = query.where('exceptionId', '<', after)
        return (await query.execute()).map(toException)
      }),

    decide: (exceptionId, from, { state, scope, decidedBy, decidedAt, expiresAt }) =>
      write(async (db) => {
        const { numUpdatedRows } = await db
          .updateTable('exceptions')
          .set({ state, scope, decidedBy: decidedBy, decidedAt: decidedAt, expiresAt: expiresAt })
          .where('exceptionId', '=', exceptionId)
          .where('state', '=', from)
          .executeTakeFirst()
        return numUpdatedRows === 1n
      }),

    active: (now) =>
      storageCall(async () => {
        const rows = await readSteps((last: ExceptionColumns | undefined, limit) => {
          const query = db
            .selectFrom('exceptions')
            .selectAll()
            .where('state', '=', 'accepted')
            .where('expiresAt', '>=', last?.expiresAt ?? now + 1)
            .orderBy('expiresAt')
            .orderBy('exceptionId')
            .limit(limit)
          return last === undefined
            ? query.execute()
            : query
                .where(({ eb, refTuple, tuple }) =>
                  eb(refTuple('expiresAt', 'exceptionId'), '>', tuple(last.expiresAt, last.exceptionId))
                )
                .execute()
        })
        return rows.map(toException)
      })
  }
}
