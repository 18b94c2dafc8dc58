import { Migrator } from 'kysely'
import { unavailable } from '../contracts/failure.js'
import type { ColumnTypes } from './dialect.js'
import { migrations } from './migrations/index.js'
import type { Database } from './tables.js'

/** A database in the newest form, and what was done to bring it there just now. */
export interface Migrated {
  db: Database
  migrations: string[]
}

/**
 * Brings the tables to the newest form; several processes may start at once.
 * @param upTo the last that is done; default: all of them
 * @returns the names of what was done
 */
export async function migrate(db: Database, types: ColumnTypes, upTo?: string): Promise<string[]> {
  const list = Object.fromEntries(Object.entries(migrations).map(([name, migration]) => [name, migration(types)]))
  const migrator = new Migrator({ db, provider: { getMigrations: async () => list } })
  const { error, results = [] } = await (upTo === undefined ? migrator.migrateToLatest() : migrator.migrateTo(upTo))
  if (error) throw unavailable(error)
  return results.map(({ migrationName }) => migrationName)
}
