import { type Kysely, type Migration, sql } from 'kysely'
import type { ColumnTypes } from '../database.js'

/** The rows of data keys: one, and two during a rotation. */
export const dataKeys = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('data_keys')
      .addColumn('key_id', types.text, (c) => c.primaryKey())
      .addColumn('state', types.text, (c) => c.notNull())
      .addColumn('sealed_secrets', types.bytes, (c) => c.notNull())
      .addColumn('sealed_key', types.bytes)
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .execute()
  }
})

/** Which terms were accepted for a key, when and by whom. */
export const keyTerms = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('keys').addColumn('terms_url', types.text).execute()
    await db.schema.alterTable('keys').addColumn('terms_accepted_at', 'bigint').execute()
    await db.schema.alterTable('keys').addColumn('terms_accepted_by', types.text).execute()
  }
})

/** Clarification questions, and the texts of operators. */
export const texts = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('questions')
      .addColumn('question_id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('lineage', types.text, (c) => c.notNull())
      .addColumn('topics', types.text, (c) => c.notNull())
      .addColumn('turns', types.text, (c) => c.notNull())
      .addColumn('asked_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .addColumn('answer', types.text)
      .addColumn('topic', types.text)
      .addColumn('answer_id', types.text)
      .addColumn('sealed_request', types.bytes)
      .execute()
    await db.schema.createIndex('questions_by_expiry').on('questions').columns(['expires_at']).execute()
    await db.schema
      .createIndex('questions_by_lineage')
      .on('questions')
      .columns(['lineage', 'asked_at', 'question_id'])
      .execute()
    await db.schema.createIndex('questions_by_answer').on('questions').columns(['answer_id']).execute()
    await db.schema
      .createTable('texts')
      .addColumn('account', types.text, (c) => c.primaryKey().notNull())
      .addColumn('version', 'bigint', (c) => c.notNull())
      .addColumn('source', types.text, (c) => c.notNull())
      .addColumn('changed_at', 'bigint', (c) => c.notNull())
      .addColumn('changed_by', types.text, (c) => c.notNull())
      .execute()
  }
})

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
