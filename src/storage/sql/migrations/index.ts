/**
 * Every change of the tables, in order, as a literal list: a release adds an entry and never edits one that was
 * released. The dialect names types that differ between SQLite and PostgreSQL.
 */
import { type Migration, Migrator } from 'kysely'
import { unavailable } from '../../contracts/failure.js'
import type { ColumnTypes } from '../database.js'
import type { Database } from '../tables.js'
import { audit, auditChain, constitutions, keys, reviews, usage } from './001-to-006.js'
import {
  exceptions,
  indexes,
  journals,
  keyConcurrency,
  keyDescent,
  metrics,
  reviewBounds,
  reviewHistory,
  reviewWork,
  users
} from './007-to-015.js'
import { constitutionBindings, dataKeys, keyTerms, texts } from './016-to-019.js'
import { auditMarks, upstreams } from './020-to-021.js'
import { alerts, pins, samples } from './022-to-024.js'

export const migrations: Readonly<Record<string, (types: ColumnTypes) => Migration>> = {
  '001-keys': keys,
  '002-reviews': reviews,
  '003-audit': audit,
  '004-constitutions': constitutions,
  '005-audit-chain': auditChain,
  '006-usage': usage,
  '007-review-work': reviewWork,
  '008-users': users,
  '009-exceptions': exceptions,
  '010-metrics': metrics,
  '011-review-history': reviewHistory,
  '012-journals': journals,
  '013-key-concurrency': keyConcurrency,
  '014-key-descent': keyDescent,
  '014-review-bounds': reviewBounds,
  '015-indexes': indexes,
  '016-data-keys': dataKeys,
  '017-key-terms': keyTerms,
  '018-texts': texts,
  '019-constitution-bindings': constitutionBindings,
  '020-audit-marks': auditMarks,
  '021-upstreams': upstreams,
  '022-samples': samples,
  '023-alerts': alerts,
  '024-mcp-pins': pins
}

/** A migrated database, and the migrations that just ran. */
export interface Migrated {
  db: Database
  migrations: string[]
}

/**
 * Migrates the tables to the newest form; several processes may start at once.
 * @param upTo the last migration to run; default: all
 * @returns the names of the migrations
 */
export async function migrate(db: Database, types: ColumnTypes, upTo?: string): Promise<string[]> {
  const list = Object.fromEntries(Object.entries(migrations).map(([name, migration]) => [name, migration(types)]))
  // A migration names tables and columns as the database does.
  const migrator = new Migrator({ db: db.withoutPlugins(), provider: { getMigrations: async () => list } })
  const { error, results = [] } = await (upTo === undefined ? migrator.migrateToLatest() : migrator.migrateTo(upTo))
  if (error) throw unavailable(error)
  return results.map(({ migrationName }) => migrationName)
}
