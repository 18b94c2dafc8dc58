import { type Kysely, type Migration, sql } from 'kysely'
import type { ColumnTypes } from '../dialect.js'

export const constitutions = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    const origins = sql`('file', 'api', 'command')`
    await db.schema
      .createTable('constitutions')
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('name', types.text, (c) => c.notNull())
      .addColumn('versions', 'integer', (c) => c.notNull())
      .addColumn('latest', 'integer', (c) => c.notNull())
      .addColumn('active', 'integer')
      .addColumn('activated_origin', types.text, (c) => c.check(sql`activated_origin in ${origins}`))
      .addColumn('activated_at', 'bigint')
      .addColumn('activated_by', types.text)
      .addColumn('file_digest', types.text)
      .addPrimaryKeyConstraint('constitutions_key', ['account', 'name'])
      .execute()
    await db.schema
      .createTable('constitution_versions')
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('name', types.text, (c) => c.notNull())
      .addColumn('version', 'integer', (c) => c.notNull())
      .addColumn('declared', types.text, (c) => c.notNull())
      .addColumn('digest', types.text, (c) => c.notNull())
      .addColumn('length', 'integer', (c) => c.notNull())
      .addColumn('origin', types.text, (c) => c.notNull().check(sql`origin in ${origins}`))
      .addColumn('note', types.text)
      .addColumn('source', types.text, (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('created_by', types.text)
      .addPrimaryKeyConstraint('constitution_versions_key', ['account', 'name', 'version'])
      .execute()
    await db.schema
      .createTable('constitution_activations')
      .addColumn('seq', types.counter, types.countsUp)
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('name', types.text, (c) => c.notNull())
      .addColumn('from_version', 'integer')
      .addColumn('to_version', 'integer', (c) => c.notNull())
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('by', types.text)
      .addColumn('origin', types.text, (c) => c.notNull().check(sql`origin in ${origins}`))
      .execute()
    await db.schema
      .createIndex('constitution_activations_by_name')
      .on('constitution_activations')
      .columns(['account', 'name', 'seq'])
      .execute()
  }
})
