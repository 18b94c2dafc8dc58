/** The storage over any SQL database that Kysely speaks: what a database adds is the connection and a `SqlDialect`. */
import { sql } from 'kysely'
import { storageCall } from '../contracts/failure.js'
import type { Storage } from '../contracts/index.js'
import { adopt } from '../journal/spool.js'
import { createSqlAlerts } from './alerts.js'
import { type AuditOptions, createSqlAudit } from './audit.js'
import { createSqlConstitutions } from './constitutions.js'
import { createSqlDataKeys } from './data-keys.js'
import { createWrite, type SqlDialect } from './database.js'
import { createSqlDeliveries } from './deliveries.js'
import { createSqlExceptions } from './exceptions.js'
import { createSqlKeys } from './keys.js'
import { createSqlPins } from './pins.js'
import { createSqlMetrics, createSqlProcesses } from './processes.js'
import { createSqlQuestions, createSqlTexts } from './questions.js'
import { createSqlReviews } from './reviews.js'
import { createSqlSamples } from './samples.js'
import type { Database } from './tables.js'
import { createSqlUpstreams } from './upstreams.js'
import { createSqlUsers } from './users.js'
import { createWriteCheck } from './write-check.js'

/**
 * First stores the spools of dead processes, so that their rows come before those of this one.
 * @param db migrated
 */
export async function createSqlStorage(db: Database, dialect: SqlDialect, auditing: AuditOptions): Promise<Storage> {
  const { spool, log } = auditing
  const { write, check } = createWriteCheck(createWrite(db, dialect), log)
  const { audit, usage, store, forget, close } = createSqlAudit(db, write, auditing)
  const processes = createSqlProcesses(db, write)
  if (spool !== undefined) {
    try {
      const rows = await adopt(spool, store, forget)
      if (rows > 0) log?.info?.({ rows }, 'audit that a process before this one had left in the spool is committed')
    } catch (error) {
      log?.error({ err: error }, 'the spool of a process before this one stays as it is')
    }
  }
  let closing: Promise<void> | undefined
  const settle = () =>
    dialect.settle(db).catch((error) => {
      log?.error({ err: error }, 'the log of the database is not in its file yet: copy both, or take a backup')
    })
  return {
    keys: createSqlKeys(db, write),
    reviews: createSqlReviews(db, write),
    constitutions: createSqlConstitutions(db, write),
    audit,
    usage,
    metrics: createSqlMetrics(db, write),
    processes,
    exceptions: createSqlExceptions(db, write),
    users: createSqlUsers(db, write),
    deliveries: createSqlDeliveries(db, write),
    alerts: createSqlAlerts(db, write),
    questions: createSqlQuestions(db, write),
    samples: createSqlSamples(db, write),
    texts: createSqlTexts(db, write),
    upstreams: createSqlUpstreams(db, write),
    pins: createSqlPins(db, write),
    dataKeys: createSqlDataKeys(db, write),
    ping: () =>
      storageCall(async () => {
        await sql`select 1`.execute(db)
        await check(processes)
      }),
    scrub: () => storageCall(() => dialect.scrub(db)),
    close() {
      closing ??= close()
        .then(() => {})
        .finally(() => settle().finally(() => db.destroy()))
      return closing
    }
  }
}
