/** The audit in SQL: rows of many processes, each group whole, in the order in which the groups commit. */
import { createAuditBuffer } from '../audit-buffer.js'
import type { AuditStore } from '../audit-store.js'
import { storageCall } from '../failure.js'
import { fromAudit, toAudit } from './tables/audit.js'
import type { Database } from './tables.js'
import type { Write } from './write.js'

/** Well below the bound on parameters of one statement: 999 in the oldest SQLite builds, 65,535 in PostgreSQL. */
const rowsPerInsert = 100

/** @param onFailure told of a group of rows that could not be committed yet; they are kept */
export function createSqlAudit(
  db: Database,
  write: Write,
  onFailure: (error: unknown) => void
): AuditStore & { close(): Promise<void> } {
  // In turn: numbers are given before the commit, and who reads on after a number must not miss a lower one.
  const buffer = createAuditBuffer(
    (rows) =>
      write(async (db) => {
        for (let i = 0; i < rows.length; i += rowsPerInsert) {
          await db
            .insertInto('audit')
            .values(rows.slice(i, i + rowsPerInsert).map(fromAudit))
            .execute()
        }
      }, 'audit'),
    onFailure
  )
  return {
    append: buffer.append,
    flush: buffer.flush,
    close: buffer.close,
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
  }
}
