/** The storage over any SQL database that Kysely speaks: what a dialect adds is the connection and three facts. */
import { sql } from 'kysely'
import { createAuditBuffer } from '../audit-buffer.js'
import type { Storage } from '../contracts.js'
import { storageCall } from '../failure.js'
import { createSqlConstitutions } from './constitutions.js'
import { createSqlKeys } from './keys.js'
import { type ColumnTypes, migrate } from './migrations.js'
import { createSqlReviews } from './reviews.js'
import { type Database, toAudit } from './tables.js'

/** Well below the bound on parameters of one statement: 999 in the oldest SQLite builds, 65,535 in PostgreSQL. */
const rowsPerInsert = 100

export interface SqlDialectFacts {
  columns: ColumnTypes
  isConflict(error: unknown): boolean
  /** Told of a group of audit rows that could not be committed yet; they are kept. */
  onAuditFailure(error: unknown): void
}

export async function openSqlStorage(db: Database, facts: SqlDialectFacts): Promise<Storage> {
  await migrate(db, facts.columns)

  const buffer = createAuditBuffer(
    (rows) =>
      storageCall(() =>
        db.transaction().execute(async (db) => {
          for (let i = 0; i < rows.length; i += rowsPerInsert) {
            const group = rows.slice(i, i + rowsPerInsert).map(({ at, kind, account, keyId, data }) => ({
              at,
              kind,
              account,
              key_id: keyId,
              data: JSON.stringify(data)
            }))
            await db.insertInto('audit').values(group).execute()
          }
        })
      ),
    facts.onAuditFailure
  )

  let closing: Promise<void> | undefined
  return {
    keys: createSqlKeys(db, facts.isConflict),
    reviews: createSqlReviews(db),
    constitutions: createSqlConstitutions(db),
    audit: {
      append: buffer.append,
      flush: buffer.flush,
      get dropped() {
        return buffer.dropped
      },
      read: ({ after = 0, limit }) =>
        storageCall(async () => {
          const rows = await db
            .selectFrom('audit')
            .selectAll()
            .where('seq', '>', after)
            .orderBy('seq')
            .limit(limit)
            .execute()
          return rows.map(toAudit)
        })
    },
    ping: () =>
      storageCall(async () => {
        await sql`select 1`.execute(db)
      }),
    close() {
      closing ??= buffer.close().finally(() => db.destroy())
      return closing
    }
  }
}
