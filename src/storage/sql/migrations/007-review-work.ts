import { type Kysely, type Migration, sql } from 'kysely'
import type { ColumnTypes } from '../dialect.js'

/** Claims, the two-person rule, the deletion of texts, and the outbox of the webhook. */
export const reviewWork = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    // One column a statement: SQLite takes no more.
    for (const name of ['claimed_by', 'approved_by'] as const) {
      await db.schema.alterTable('reviews').addColumn(name, types.text).execute()
    }
    for (const name of ['claimed_until', 'approved_at', 'purged_at'] as const) {
      await db.schema.alterTable('reviews').addColumn(name, 'bigint').execute()
    }
    await db.schema.alterTable('reviews').addColumn('sealed_approval_note', types.bytes).execute()
    await db.schema
      .alterTable('reviews')
      .addColumn('categories', types.text, (c) => c.notNull().defaultTo(','))
      .execute()
    await db.schema.createIndex('reviews_by_purge').on('reviews').columns(['purged_at', 'expires_at']).execute()
    await db.schema
      .createTable('deliveries')
      .addColumn('delivery_id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('event', types.text, (c) => c.notNull())
      .addColumn('review_id', types.text, (c) => c.notNull())
      .addColumn('body', types.text, (c) => c.notNull())
      .addColumn('state', types.text, (c) => c.notNull().check(sql`state in ('waiting', 'dead')`))
      .addColumn('attempts', 'integer', (c) => c.notNull())
      .addColumn('next_at', 'bigint')
      .addColumn('last_error', types.text)
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .execute()
    await db.schema.createIndex('deliveries_due').on('deliveries').columns(['state', 'next_at']).execute()
  }
})
