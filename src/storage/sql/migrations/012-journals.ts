import type { Kysely, Migration } from 'kysely'
import type { ColumnTypes } from '../dialect.js'

/** How far the journal of each process is stored, so that a group whose answer was lost is not stored twice. */
export const journals = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('journals')
      .addColumn('journal', types.text, (c) => c.primaryKey().notNull())
      .addColumn('number', 'bigint', (c) => c.notNull())
      .addColumn('at', 'bigint', (c) => c.notNull())
      .execute()
  }
})
