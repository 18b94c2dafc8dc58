import { type Kysely, type Migration, sql } from 'kysely'
import type { ColumnTypes } from '../dialect.js'

export const reviews = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('reviews')
      .addColumn('review_id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('key_id', types.text, (c) => c.notNull())
      .addColumn('lineage', types.text, (c) => c.notNull())
      .addColumn('surface', types.text, (c) => c.notNull())
      .addColumn('route', types.text, (c) => c.notNull())
      .addColumn('policy', types.text, (c) => c.notNull())
      .addColumn('digest', types.text, (c) => c.notNull())
      .addColumn('sealed_request', types.bytes, (c) => c.notNull())
      .addColumn('sealed_context', types.bytes)
      .addColumn('sealed_note', types.bytes)
      .addColumn('state', types.text, (c) => c.notNull().check(sql`state in ('pending', 'permitted', 'forbidden')`))
      .addColumn('risk_score', 'double precision', (c) => c.notNull())
      .addColumn('matched_rules', types.text, (c) => c.notNull())
      .addColumn('detections', types.text, (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .addColumn('decided_at', 'bigint')
      .addColumn('decided_by', types.text)
      .addColumn('used_at', 'bigint')
      .execute()
    await db.schema.createIndex('reviews_by_account').on('reviews').columns(['account', 'review_id']).execute()
    await db.schema.createIndex('reviews_by_subject').on('reviews').columns(['lineage', 'digest']).execute()
    await db.schema
      .createIndex('reviews_by_state')
      .on('reviews')
      .columns(['state', 'expires_at', 'created_at'])
      .execute()
  }
})
