import { type Kysely, type Migration, sql } from 'kysely'
import type { ColumnTypes } from '../database.js'

/** Which constitution judges which route, one row for every word on it: the last of a route counts. */
export const constitutionBindings = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('constitution_bindings')
      .addColumn('seq', types.counter, types.countsUp)
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('route', types.text, (c) => c.notNull())
      .addColumn('name', types.text)
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('by', types.text)
      .addColumn('origin', types.text, (c) => c.notNull().check(sql`origin in ('file', 'api', 'command')`))
      .execute()
    await db.schema
      .createIndex('constitution_bindings_by_route')
      .on('constitution_bindings')
      .columns(['account', 'route', 'seq'])
      .execute()
  }
})
