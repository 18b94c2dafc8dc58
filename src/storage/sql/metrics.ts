/** The course of the metrics in SQL. */
import { storageCall } from '../contracts/failure.js'
import type { MetricsStore } from '../contracts/metrics-store.js'
import { removeSteps } from '../steps.js'
import { fromMetrics, toMetrics } from './tables/metrics.js'
import type { Database } from './tables.js'
import type { Write } from './write.js'

/** Five columns each, below the bound on parameters of one statement. */
const rowsPerInsert = 150

export function createSqlMetrics(db: Database, write: Write): MetricsStore {
  return {
    put: (rows) =>
      write(async (db) => {
        for (let i = 0; i < rows.length; i += rowsPerInsert) {
          await db
            .insertInto('metrics')
            .values(rows.slice(i, i + rowsPerInsert).map(fromMetrics))
            .onConflict((conflict) =>
              conflict.columns(['step_ms', 'at', 'process']).doUpdateSet((is) => ({
                counts: is.ref('excluded.counts'),
                written_at: is.ref('excluded.written_at')
              }))
            )
            .execute()
        }
      }),

    read: (stepMs, { from, after, limit }) =>
      storageCall(async () => {
        let query = db
          .selectFrom('metrics')
          .selectAll()
          .where('step_ms', '=', stepMs)
          .where('at', '>=', after?.at ?? from)
          .orderBy('at')
          .orderBy('process')
          .limit(limit)
        if (after !== undefined) {
          const { at, process } = after
          query = query.where(({ eb, refTuple, tuple }) => eb(refTuple('at', 'process'), '>', tuple(at, process)))
        }
        return (await query.execute()).map(toMetrics)
      }),

    changed: (stepMs, since) =>
      storageCall(async () => {
        const { first } = await db
          .selectFrom('metrics')
          .select((is) => is.fn.min('at').as('first'))
          .where('step_ms', '=', stepMs)
          .where('written_at', '>=', since)
          .executeTakeFirstOrThrow()
        return first ?? undefined
      }),

    prune: (stepMs, before) =>
      removeSteps((limit) =>
        write(async (db) => {
          const old = db
            .selectFrom('metrics')
            .select(['at', 'process'])
            .where('step_ms', '=', stepMs)
            .where('at', '<', before)
            .orderBy('at')
            .orderBy('process')
            .limit(limit)
          const { numDeletedRows } = await db
            .deleteFrom('metrics')
            .where('step_ms', '=', stepMs)
            .where(({ eb, refTuple }) => eb(refTuple('at', 'process'), 'in', old.$asTuple('at', 'process')))
            .executeTakeFirst()
          return Number(numDeletedRows)
        })
      )
  }
}
