import type { Kysely, Migration } from 'kysely'
import type { ColumnTypes } from '../database.js'

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
