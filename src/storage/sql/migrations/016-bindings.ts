import { type Kysely, type Migration, sql } from 'kysely'
import type { ColumnTypes } from '../database.js'

/** Which constitution judges which route, one row a route. */
export const constitutionBindings = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('constitution_bindings')
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('route', types.text, (c) => c.notNull())
      .addColumn('name', types.text)
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('by', types.text)
      .addColumn('origin', types.text, (c) => c.notNull().check(sql`origin in ('file', 'api', 'command')`))
      .addColumn('changes', 'integer', (c) => c.notNull())
      .addPrimaryKeyConstraint('constitution_bindings_key', ['account', 'route'])
      .execute()
  }
})
