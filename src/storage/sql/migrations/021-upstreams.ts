import type { Kysely, Migration } from 'kysely'
import type { ColumnTypes } from '../database.js'

/** The backends that administrators connected, one row a version. */
export const upstreams = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('upstreams')
      .addColumn('upstream_id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('name', types.text, (c) => c.notNull())
      .addColumn('version', 'integer', (c) => c.notNull())
      .addColumn('url', types.text)
      .addColumn('api', types.text, (c) => c.notNull())
      .addColumn('sealed_key', types.bytes)
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('by', types.text)
      .addUniqueConstraint('upstreams_by_version', ['account', 'name', 'version'])
      .execute()
  }
})
