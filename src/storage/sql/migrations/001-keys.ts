import { type Kysely, type Migration, sql } from 'kysely'
import type { ColumnTypes } from '../dialect.js'

export const keys = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('accounts')
      .addColumn('id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('keys')
      .addColumn('key_id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('account', types.text, (c) => c.notNull().references('accounts.id'))
      .addColumn('lineage', types.text, (c) => c.notNull())
      .addColumn('prefix', types.text, (c) => c.notNull())
      .addColumn('environment', types.text, (c) => c.notNull().check(sql`environment in ('live', 'test')`))
      .addColumn('name', types.text, (c) => c.notNull())
      .addColumn('scopes', types.text, (c) => c.notNull())
      .addColumn('ip_allowlist', types.text, (c) => c.notNull())
      .addColumn('rate_limit_per_minute', 'integer')
      .addColumn('hash', types.bytes, (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('last_used_at', 'bigint')
      .addColumn('expires_at', 'bigint')
      .addColumn('revoked_at', 'bigint')
      .addColumn('grace_ends_at', 'bigint')
      .addColumn('rotated_to', types.text)
      .execute()
    await db.schema.createIndex('keys_by_prefix').unique().on('keys').column('prefix').execute()
    await db.schema.createIndex('keys_by_account').unique().on('keys').columns(['account', 'key_id']).execute()
  }
})
