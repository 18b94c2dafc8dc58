import type { Kysely, Migration } from 'kysely'
import type { ColumnTypes } from '../dialect.js'

/** Whose hand a key is, whether it may rotate itself, and which key an exception is about. */
export const keyDescent = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('keys').addColumn('created_by', types.text).execute()
    // Empty: the key is a root by its lineage. So are the keys of before, and those that a process of a version before
    // this one stores beside a newer one.
    await db.schema
      .alterTable('keys')
      .addColumn('roots', types.text, (c) => c.notNull().defaultTo(''))
      .execute()
    await db.schema
      .alterTable('keys')
      .addColumn('self_rotation', 'integer', (c) => c.notNull().defaultTo(1))
      .execute()
    await db.schema.createIndex('keys_by_lineage').on('keys').columns(['account', 'lineage', 'key_id']).execute()
    await db.schema.alterTable('exceptions').addColumn('caused_by', types.text).execute()
  }
})
