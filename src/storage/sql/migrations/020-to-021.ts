import { type Kysely, type Migration, sql } from 'kysely'
import type { ColumnTypes } from '../database.js'
import { markStored } from '../marks.js'
import type { Database } from '../tables.js'

/** The search index of verdicts in the audit, also for existing rows. */
export const auditMarks = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('marks')
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('name', types.text, (c) => c.notNull())
      .addColumn('value', types.text, (c) => c.notNull())
      .addColumn('seq', 'bigint', (c) => c.notNull())
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('score', 'double precision', (c) => c.notNull())
      .addPrimaryKeyConstraint('marks_key', ['account', 'name', 'value', 'seq'])
      // SQLite keeps the rows in the index itself: half the bytes.
      .$call((table) => (types.bytes === 'blob' ? table.modifyEnd(sql`without rowid`) : table))
      .execute()
    await markStored(db as unknown as Database)
  }
})

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
