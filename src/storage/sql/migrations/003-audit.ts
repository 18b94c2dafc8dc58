import type { Kysely, Migration } from 'kysely'
import type { ColumnTypes } from '../dialect.js'

export const audit = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('audit')
      .addColumn('seq', types.counter, types.countsUp)
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('kind', types.text, (c) => c.notNull())
      .addColumn('account', types.text)
      .addColumn('key_id', types.text)
      .addColumn('data', types.text, (c) => c.notNull())
      .execute()
  }
})
