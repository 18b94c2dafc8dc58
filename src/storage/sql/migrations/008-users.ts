import { type Kysely, type Migration, sql } from 'kysely'
import type { ColumnTypes } from '../dialect.js'

export const users = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    const roles = sql`('viewer', 'reviewer', 'admin')`
    await db.schema
      .createTable('users')
      .addColumn('user_id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('login', types.text, (c) => c.notNull().unique())
      .addColumn('role', types.text, (c) => c.notNull().check(sql`role in ${roles}`))
      .addColumn('password_hash', types.text)
      .addColumn('issuer', types.text)
      .addColumn('subject', types.text)
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('signed_in_at', 'bigint')
      .addColumn('disabled_at', 'bigint')
      .addUniqueConstraint('users_by_subject', ['issuer', 'subject'])
      .execute()
    await db.schema
      .createTable('user_sessions')
      .addColumn('session_id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('user_id', types.text, (c) => c.notNull().references('users.user_id'))
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('seen_at', 'bigint', (c) => c.notNull())
      .addColumn('confirmed_at', 'bigint', (c) => c.notNull())
      .execute()
    await db.schema.createIndex('user_sessions_by_user').on('user_sessions').columns(['user_id']).execute()
    await db.schema
      .createTable('invitations')
      .addColumn('invitation_id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('role', types.text, (c) => c.notNull().check(sql`role in ${roles}`))
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .addColumn('created_by', types.text)
      .execute()
  }
})
