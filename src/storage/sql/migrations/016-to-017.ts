import type { Kysely, Migration } from 'kysely'
import type { ColumnTypes } from '../database.js'

/** What the data key opens, and the other one while it is rotated. */
export const dataKeys = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('data_keys')
      .addColumn('key_id', types.text, (c) => c.primaryKey())
      .addColumn('state', types.text, (c) => c.notNull())
      .addColumn('sealed_secrets', types.bytes, (c) => c.notNull())
      .addColumn('sealed_key', types.bytes)
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .execute()
  }
})

/** Which terms were accepted for a key, when and by whom. */
export const keyTerms = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('keys').addColumn('terms_url', types.text).execute()
    await db.schema.alterTable('keys').addColumn('terms_accepted_at', 'bigint').execute()
    await db.schema.alterTable('keys').addColumn('terms_accepted_by', types.text).execute()
  }
})
