import type { Kysely, Migration } from 'kysely'
import type { ColumnTypes } from '../dialect.js'

/** The course of the metrics, and the processes that serve. */
export const metrics = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('metrics')
      .addColumn('process', types.text, (c) => c.notNull())
      .addColumn('step_ms', 'integer', (c) => c.notNull())
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('counts', types.text, (c) => c.notNull())
      .addColumn('written_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('metrics_key', ['step_ms', 'at', 'process'])
      .execute()
    await db.schema.createIndex('metrics_by_write').on('metrics').columns(['step_ms', 'written_at']).execute()
    await db.schema
      .createTable('processes')
      .addColumn('process', types.text, (c) => c.primaryKey().notNull())
      .addColumn('node', types.text, (c) => c.notNull())
      .addColumn('started_at', 'bigint', (c) => c.notNull())
      .addColumn('seen_at', 'bigint', (c) => c.notNull())
      .addColumn('facts', types.text, (c) => c.notNull())
      .execute()
  }
})
