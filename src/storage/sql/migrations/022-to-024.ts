import type { Kysely, Migration } from 'kysely'
import type { ColumnTypes } from '../database.js'

/** Sealed texts of what was judged, how much of them each account has, and who may read them. */
export const samples = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('samples')
      .addColumn('sample_id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('evaluation_id', types.text, (c) => c.notNull())
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('key_id', types.text, (c) => c.notNull())
      .addColumn('surface', types.text, (c) => c.notNull())
      .addColumn('route', types.text, (c) => c.notNull())
      .addColumn('policy', types.text, (c) => c.notNull())
      .addColumn('decision', types.text, (c) => c.notNull())
      .addColumn('risk_score', 'double precision', (c) => c.notNull())
      .addColumn('matched_rules', types.text, (c) => c.notNull())
      .addColumn('categories', types.text, (c) => c.notNull())
      .addColumn('upstream', types.text)
      .addColumn('model', types.text)
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('bytes', 'integer', (c) => c.notNull())
      // Last: SQLite reads what stands before it without the pages of the text.
      .addColumn('sealed_text', types.bytes, (c) => c.notNull())
      .execute()
    await db.schema.createIndex('samples_by_account').on('samples').columns(['account', 'sample_id']).execute()
    await db.schema
      .createIndex('samples_by_evaluation')
      .on('samples')
      .columns(['account', 'evaluation_id', 'sample_id'])
      .execute()
    await db.schema.createIndex('samples_by_time').on('samples').columns(['created_at']).execute()
    await db.schema
      .createTable('sample_totals')
      .addColumn('account', types.text, (c) => c.primaryKey().notNull())
      .addColumn('rows', 'bigint', (c) => c.notNull())
      .addColumn('bytes', 'bigint', (c) => c.notNull())
      .execute()
    for (const table of ['users', 'invitations'])
      await db.schema
        .alterTable(table)
        .addColumn('reads_samples', 'integer', (c) => c.notNull().defaultTo(0))
        .execute()
  }
})

/** What is wrong and was told, which process looks for it, and to whom a message goes: until now all went to one webhook. */
export const alerts = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('alerts')
      .addColumn('alert_id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('kind', types.text, (c) => c.notNull())
      .addColumn('subject', types.text, (c) => c.notNull())
      .addColumn('facts', types.text, (c) => c.notNull())
      .addColumn('since', 'bigint', (c) => c.notNull())
      .addColumn('holds', 'integer', (c) => c.notNull())
      .addColumn('held_at', 'bigint', (c) => c.notNull())
      .addColumn('ended_at', 'bigint')
      .addColumn('told', 'integer', (c) => c.notNull())
      .addColumn('told_at', 'bigint')
      .addUniqueConstraint('alerts_by_subject', ['kind', 'subject'])
      .execute()
    await db.schema
      .createTable('alert_watch')
      .addColumn('watch_id', 'integer', (c) => c.primaryKey().notNull())
      .addColumn('holder', types.text, (c) => c.notNull())
      .addColumn('until', 'bigint', (c) => c.notNull())
      .execute()
    await db.schema
      .alterTable('deliveries')
      .addColumn('channel', types.text, (c) => c.notNull().defaultTo('review'))
      .execute()
    await db.schema.createIndex('keys_by_expiry').on('keys').columns(['expires_at', 'key_id']).execute()
  }
})

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
    await db.schema.createIndex('pins_of_server').on('pins').columns(['account', 'kind', 'server', 'name']).execute()
  }
})
