import type { Kysely, Migration } from 'kysely'
import type { ColumnTypes } from '../database.js'

/** What the definitions of MCP servers were when they were let through. */
export const pins = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('pins')
      .addColumn('pin_id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('server', types.text, (c) => c.notNull())
      .addColumn('kind', types.text, (c) => c.notNull())
      .addColumn('name', types.text, (c) => c.notNull())
      .addColumn('digest', types.text, (c) => c.notNull())
      .addColumn('sealed_definition', types.bytes)
      .addColumn('is_permitted', 'integer', (c) => c.notNull())
      .addColumn('pending_digest', types.text)
      .addColumn('sealed_pending', types.bytes)
      .addColumn('changed_at', 'bigint', (c) => c.notNull())
      .execute()
    await db.schema.createIndex('pins_of_server').on('pins').columns(['account', 'server', 'kind']).execute()
  }
})
