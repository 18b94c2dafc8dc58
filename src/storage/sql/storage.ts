/** The storage over any SQL database that Kysely speaks: what a database adds is the connection and a `SqlDialect`. */
import { sql } from 'kysely'
import type { Storage } from '../contracts.js'
import { storageCall } from '../failure.js'
import { type AuditOptions, createSqlAudit } from './audit.js'
import { createSqlConstitutions } from './constitutions.js'
import { createSqlDeliveries } from './deliveries.js'
import type { SqlDialect } from './dialect.js'
import { createSqlExceptions } from './exceptions.js'
import { createSqlKeys } from './keys.js'
import { createSqlMetrics } from './metrics.js'
import { createSqlProcesses } from './processes.js'
import { createSqlReviews } from './reviews.js'
import type { Database } from './tables.js'
import { createSqlUsers } from './users.js'
import { createWrite } from './write.js'

/** @param db migrated */
export function createSqlStorage(db: Database, dialect: SqlDialect, auditing: AuditOptions): Storage {
  const write = createWrite(db, dialect)
  const { audit, usage, close } = createSqlAudit(db, write, auditing)
  let closing: Promise<void> | undefined
  return {
    keys: createSqlKeys(db, write),
    reviews: createSqlReviews(db, write),
    constitutions: createSqlConstitutions(db, write),
    audit,
    usage,
    metrics: createSqlMetrics(db, write),
    processes: createSqlProcesses(db, write),
    exceptions: createSqlExceptions(db, write),
    users: createSqlUsers(db, write),
    deliveries: createSqlDeliveries(db, write),
    ping: () =>
      storageCall(async () => {
        await sql`select 1`.execute(db)
      }),
    close() {
      closing ??= close().finally(() => db.destroy())
      return closing
    }
  }
}
