/** Connected backends in SQL. */
import { storageCall } from '../contracts/failure.js'
import type { UpstreamStore } from '../contracts/upstreams.js'
import type { Write } from './database.js'
import type { Database } from './tables.js'

export function createSqlUpstreams(db: Database, write: Write): UpstreamStore {
  return {
    newest: (account) =>
      storageCall(() =>
        db
          .selectFrom('upstreams as one')
          .selectAll()
          .where('account', '=', account)
          .where('version', '=', (query) =>
            query
              .selectFrom('upstreams as other')
              .select(({ fn }) => fn.max('other.version').as('version'))
              .whereRef('other.account', '=', 'one.account')
              .whereRef('other.name', '=', 'one.name')
          )
          .orderBy('name')
          .execute()
      ),

    put: (row) =>
      write(async (db) => {
        const { account, name } = row
        const standing = await db
          .selectFrom('upstreams')
          .select('version')
          .where('account', '=', account)
          .where('name', '=', name)
          .orderBy('version', 'desc')
          .limit(1)
          .executeTakeFirst()
        if ((standing?.version ?? 0) !== row.version - 1) return false
        await db
          .updateTable('upstreams')
          .set({ sealedKey: null })
          .where('account', '=', account)
          .where('name', '=', name)
          .execute()
        await db.insertInto('upstreams').values(row).execute()
        return true
      }, `upstreams ${row.account}`)
  }
}
