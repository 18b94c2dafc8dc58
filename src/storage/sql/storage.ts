/** The storage over any SQL database that Kysely speaks: what a database adds is the connection and a `SqlDialect`. */
import { sql } from 'kysely'
import type { Storage } from '../contracts.js'
import { storageCall } from '../failure.js'
import { createSqlAudit } from './audit.js'
import { createSqlConstitutions } from './constitutions.js'
import type { SqlDialect } from './dialect.js'
import { createSqlKeys } from './keys.js'
import { createSqlReviews } from './reviews.js'
import type { Database } from './tables.js'
import { createWrite } from './write.js'

/**
 * @param db migrated
 * @param onAuditFailure told of a group of audit rows that could not be committed yet; they are kept
 */
export function createSqlStorage(db: Database, dialect: SqlDialect, onAuditFailure: (error: unknown) => void): Storage {
  const write = createWrite(db, dialect)
  const audit = createSqlAudit(db, write, onAuditFailure)
  let closing: Promise<void> | undefined
  return {
    keys: createSqlKeys(db, write),
    reviews: createSqlReviews(db, write),
    constitutions: createSqlConstitutions(db, write),
    audit,
    ping: () =>
      storageCall(async () => {
        await sql`select 1`.execute(db)
      }),
    close() {
      closing ??= audit.close().finally(() => db.destroy())
      return closing
    }
  }
}
