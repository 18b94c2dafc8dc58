/** The stores of serving processes and their metrics in SQL. */
import { storageCall } from '../contracts/failure.js'
import type { MetricsStore, ProcessRow, ProcessStore } from '../contracts/processes.js'
import type { Write } from './database.js'
import { removeSteps } from './steps.js'
import type { Database, ProcessColumns } from './tables.js'

export function createSqlProcesses(db: Database, write: Write): ProcessStore {
  return {
    tell: (row) =>
      write(async (db) => {
        const { process, ...said } = { ...row, facts: JSON.stringify(row.facts) }
        await db
          .insertInto('processes')
          .values({ process, ...said })
          .onConflict((conflict) => conflict.column('process').doUpdateSet(said))
          .execute()
      }),

    list: (since) =>
      storageCall(async () => {
        const rows = await db.selectFrom('processes').selectAll().where('seenAt', '>=', since).execute()
        const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
        return rows
          .map((row: ProcessColumns): ProcessRow => ({ ...row, facts: JSON.parse(row.facts) }))
          .sort((a, b) => compare(a.node, b.node) || a.startedAt - b.startedAt || compare(a.process, b.process))
      }),

    remove: (process) =>
      write(async (db) => {
        await db.deleteFrom('processes').where('process', '=', process).execute()
      }),

    prune: (before) =>
      write(async (db) => {
        const { numDeletedRows } = await db.deleteFrom('processes').where('seenAt', '<', before).executeTakeFirst()
        return Number(numDeletedRows)
      })
  }
}

/** Five columns each, below the bound on parameters of one statement. */
const rowsPerInsert = 150

export function createSqlMetrics(db: Database, write: Write): MetricsStore {
  return {
    put: (rows) =>
      write(async (db) => {
        for (let i = 0; i < rows.length; i += rowsPerInsert) {
          await db
            .insertInto('metrics')
            .values(rows.slice(i, i + rowsPerInsert).map((row) => ({ ...row, counts: JSON.stringify(row.counts) })))
            .onConflict((conflict) =>
              conflict.columns(['stepMs', 'at', 'process']).doUpdateSet((is) => ({
                counts: is.ref('excluded.counts'),
                writtenAt: is.ref('excluded.writtenAt')
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
          .where('stepMs', '=', stepMs)
          .where('at', '>=', after?.at ?? from)
          .orderBy('at')
          .orderBy('process')
          .limit(limit)
        if (after !== undefined) {
          const { at, process } = after
          query = query.where(({ eb, refTuple, tuple }) => eb(refTuple('at', 'process'), '>', tuple(at, process)))
        }
        return (await query.execute()).map((row) => ({ ...row, counts: JSON.parse(row.counts) }))
      }),

    changed: (stepMs, since) =>
      storageCall(async () => {
        const { first } = await db
          .selectFrom('metrics')
          .select((is) => is.fn.min('at').as('first'))
          .where('stepMs', '=', stepMs)
          .where('writtenAt', '>=', since)
          .executeTakeFirstOrThrow()
        return first ?? undefined
      }),

    prune: (stepMs, before) =>
      removeSteps((limit) =>
        write(async (db) => {
          const old = db
            .selectFrom('metrics')
            .select(['at', 'process'])
            .where('stepMs', '=', stepMs)
            .where('at', '<', before)
            .orderBy('at')
            .orderBy('process')
            .limit(limit)
          const { numDeletedRows } = await db
            .deleteFrom('metrics')
            .where('stepMs', '=', stepMs)
            .where(({ eb, refTuple }) => eb(refTuple('at', 'process'), 'in', old.$asTuple('at', 'process')))
            .executeTakeFirst()
          return Number(numDeletedRows)
        })
      )
  }
}
