/** The processes that serve, in SQL. */
import { storageCall } from '../contracts/failure.js'
import type { ProcessStore } from '../contracts/process-store.js'
import { fromProcess, toProcess } from './tables/metrics.js'
import type { Database } from './tables.js'
import type { Write } from './write.js'

export function createSqlProcesses(db: Database, write: Write): ProcessStore {
  return {
    tell: (row) =>
      write(async (db) => {
        const { process, ...said } = fromProcess(row)
        await db
          .insertInto('processes')
          .values({ process, ...said })
          .onConflict((conflict) => conflict.column('process').doUpdateSet(said))
          .execute()
      }),

    list: (since) =>
      storageCall(async () => {
        const rows = await db.selectFrom('processes').selectAll().where('seen_at', '>=', since).execute()
        const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
        return rows
          .map(toProcess)
          .sort((a, b) => compare(a.node, b.node) || a.startedAt - b.startedAt || compare(a.process, b.process))
      }),

    remove: (process) =>
      write(async (db) => {
        await db.deleteFrom('processes').where('process', '=', process).execute()
      }),

    prune: (before) =>
      write(async (db) => {
        const { numDeletedRows } = await db.deleteFrom('processes').where('seen_at', '<', before).executeTakeFirst()
        return Number(numDeletedRows)
      })
  }
}
