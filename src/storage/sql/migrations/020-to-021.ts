import { type Kysely, type Migration, sql } from 'kysely'
import type { ColumnTypes } from '../database.js'
import { markStored } from '../marks.js'
import type { Database } from '../tables.js'

/** What verdicts are found by in the audit, also those of before. */
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
