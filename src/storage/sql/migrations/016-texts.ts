/** What people are told and asked: the questions of conversations, and the texts of operators. */
import type { Kysely, Migration } from 'kysely'
import type { ColumnTypes } from '../database.js'

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
    await db.schema.createIndex('questions_by_lineage').on('questions').columns(['lineage', 'asked_at']).execute()
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
