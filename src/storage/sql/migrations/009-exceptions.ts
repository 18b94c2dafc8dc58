import { type Kysely, type Migration, sql } from 'kysely'
import type { ColumnTypes } from '../dialect.js'

export const exceptions = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    const states = sql`('proposed', 'accepted', 'rejected', 'revoked')`
    await db.schema
      .createTable('exceptions')
      .addColumn('exception_id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('evaluation_id', types.text, (c) => c.notNull())
      .addColumn('policy', types.text, (c) => c.notNull())
      .addColumn('rules', types.text, (c) => c.notNull())
      .addColumn('fingerprints', types.text, (c) => c.notNull())
      .addColumn('lineage', types.text, (c) => c.notNull())
      .addColumn('scope', types.text, (c) => c.notNull().check(sql`scope in ('key', 'account')`))
      .addColumn('state', types.text, (c) => c.notNull().check(sql`state in ${states}`))
      .addColumn('sealed_note', types.bytes)
      .addColumn('proposed_by', types.text, (c) => c.notNull())
      .addColumn('proposed_at', 'bigint', (c) => c.notNull())
      .addColumn('decided_by', types.text)
      .addColumn('decided_at', 'bigint')
      .addColumn('expires_at', 'bigint')
      .execute()
    await db.schema.createIndex('exceptions_by_evaluation').on('exceptions').columns(['evaluation_id']).execute()
    await db.schema.createIndex('exceptions_by_state').on('exceptions').columns(['state', 'expires_at']).execute()
  }
})
