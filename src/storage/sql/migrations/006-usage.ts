import type { Kysely, Migration } from 'kysely'
import type { ColumnTypes } from '../dialect.js'

export const usage = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('usage')
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('key_id', types.text, (c) => c.notNull())
      .addColumn('environment', types.text, (c) => c.notNull())
      .addColumn('surface', types.text, (c) => c.notNull())
      .addColumn('day', types.text, (c) => c.notNull())
      .addColumn('evaluations', 'bigint', (c) => c.notNull())
      .addColumn('characters', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('usage_key', ['account', 'key_id', 'day', 'surface'])
      .execute()
    await db.schema.createIndex('usage_by_day').on('usage').columns(['account', 'day']).execute()
  }
})
