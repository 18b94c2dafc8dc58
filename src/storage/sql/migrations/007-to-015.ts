import { type Kysely, type Migration, sql } from 'kysely'
import type { ColumnTypes } from '../database.js'

/** Claims, the two-person rule, the deletion of texts, and the outbox of the webhook. */
export const reviewWork = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    // One column a statement: SQLite takes no more.
    for (const name of ['claimed_by', 'approved_by'] as const) {
      await db.schema.alterTable('reviews').addColumn(name, types.text).execute()
    }
    for (const name of ['claimed_until', 'approved_at', 'purged_at'] as const) {
      await db.schema.alterTable('reviews').addColumn(name, 'bigint').execute()
    }
    await db.schema.alterTable('reviews').addColumn('sealed_approval_note', types.bytes).execute()
    await db.schema
      .alterTable('reviews')
      .addColumn('categories', types.text, (c) => c.notNull().defaultTo(','))
      .execute()
    await db.schema.createIndex('reviews_by_purge').on('reviews').columns(['purged_at', 'expires_at']).execute()
    await db.schema
      .createTable('deliveries')
      .addColumn('delivery_id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('event', types.text, (c) => c.notNull())
      .addColumn('review_id', types.text, (c) => c.notNull())
      .addColumn('body', types.text, (c) => c.notNull())
      .addColumn('state', types.text, (c) => c.notNull().check(sql`state in ('waiting', 'dead')`))
      .addColumn('attempts', 'integer', (c) => c.notNull())
      .addColumn('next_at', 'bigint')
      .addColumn('last_error', types.text)
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .execute()
    await db.schema.createIndex('deliveries_due').on('deliveries').columns(['state', 'next_at']).execute()
  }
})

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

export const exceptions = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    const states = sql`('proposed', 'accepted', 'rejected', 'revoked')`
    await db.schema
      .createTable('exceptions')
      .addColumn('exception_id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('evaluation_id', types.text, (c) => c.notNull())
      .addColumn('policy', types.text, (c) => c.notNull())
      .addColumn('rules', types.text, (c) => c.notNull())
      .addColumn('fingerprints', types.text, (c) => c.notNull())
      .addColumn('lineage', types.text, (c) => c.notNull())
      .addColumn('scope', types.text, (c) => c.notNull().check(sql`scope in ('key', 'account')`))
      .addColumn('state', types.text, (c) => c.notNull().check(sql`state in ${states}`))
      .addColumn('sealed_note', types.bytes)
      .addColumn('proposed_by', types.text, (c) => c.notNull())
      .addColumn('proposed_at', 'bigint', (c) => c.notNull())
      .addColumn('decided_by', types.text)
      .addColumn('decided_at', 'bigint')
      .addColumn('expires_at', 'bigint')
      .execute()
    await db.schema.createIndex('exceptions_by_evaluation').on('exceptions').columns(['evaluation_id']).execute()
    await db.schema.createIndex('exceptions_by_state').on('exceptions').columns(['state', 'expires_at']).execute()
  }
})

/** The course of the metrics, and the processes that serve. */
export const metrics = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('metrics')
      .addColumn('process', types.text, (c) => c.notNull())
      .addColumn('step_ms', 'integer', (c) => c.notNull())
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('counts', types.text, (c) => c.notNull())
      .addColumn('written_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('metrics_key', ['step_ms', 'at', 'process'])
      .execute()
    await db.schema.createIndex('metrics_by_write').on('metrics').columns(['step_ms', 'written_at']).execute()
    await db.schema
      .createTable('processes')
      .addColumn('process', types.text, (c) => c.primaryKey().notNull())
      .addColumn('node', types.text, (c) => c.notNull())
      .addColumn('started_at', 'bigint', (c) => c.notNull())
      .addColumn('seen_at', 'bigint', (c) => c.notNull())
      .addColumn('facts', types.text, (c) => c.notNull())
      .execute()
  }
})

/** The turns of the session before a review, sealed like its text. */
export const reviewHistory = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('reviews').addColumn('sealed_history', types.bytes).execute()
  }
})

/** How far the journal of each process is stored, so that a group whose answer was lost is not stored twice. */
export const journals = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('journals')
      .addColumn('journal', types.text, (c) => c.primaryKey().notNull())
      .addColumn('number', 'bigint', (c) => c.notNull())
      .addColumn('at', 'bigint', (c) => c.notNull())
      .execute()
  }
})

/** How many requests of a key may be under way at once. Null: what the configuration says. */
export const keyConcurrency = (): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('keys').addColumn('max_concurrent', 'integer').execute()
  }
})

/** Whose hand a key is, whether it may rotate itself, and which key an exception is about. */
export const keyDescent = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('keys').addColumn('created_by', types.text).execute()
    // Empty: the key is a root by its lineage. So are the keys of before, and those that a process of a version before
    // this one stores beside a newer one.
    await db.schema
      .alterTable('keys')
      .addColumn('roots', types.text, (c) => c.notNull().defaultTo(''))
      .execute()
    await db.schema
      .alterTable('keys')
      .addColumn('self_rotation', 'integer', (c) => c.notNull().defaultTo(1))
      .execute()
    await db.schema.createIndex('keys_by_lineage').on('keys').columns(['account', 'lineage', 'key_id']).execute()
    await db.schema.alterTable('exceptions').addColumn('caused_by', types.text).execute()
  }
})

/**
 * How much waits for a decision: counted in indexes of what is open alone, and never by reading a text. By account that is
 * `reviews_by_expiry` of the indexes after it.
 */
export const reviewBounds = (_types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('reviews')
      .addColumn('bytes', 'bigint', (c) => c.notNull().defaultTo(0))
      .execute()
    // Of what is over, nobody asks any more; and to write a row is to write its texts.
    await sql`
      update reviews set bytes = octet_length(sealed_request)
        + coalesce(octet_length(sealed_context), 0) + coalesce(octet_length(sealed_history), 0)
      where state = 'pending' and expires_at > ${Date.now()}
    `.execute(db)
    for (const [name, columns] of [
      ['reviews_open', ['state', 'expires_at', 'bytes']],
      ['reviews_open_by_lineage', ['lineage', 'account', 'expires_at']]
    ] as const) {
      await db.schema
        .createIndex(name)
        .on('reviews')
        .columns([...columns])
        .where(sql.ref('state'), '=', sql.lit('pending'))
        .execute()
    }
  }
})

/** Indexes by which every list, sum and deletion finds what it wants without looking at the rest, and none that is used no more. */
const wantedIndexes = {
  // Who and what, then the order of commit, then the time, which a filter reads without the row.
  audit_by_account: ['audit', 'account', 'seq', 'at'],
  audit_by_kind: ['audit', 'account', 'kind', 'seq', 'at'],
  audit_by_actor: ['audit', 'account', 'key_id', 'seq', 'at'],
  audit_by_object: ['audit', 'subject', 'seq'],
  journals_by_time: ['journals', 'at'],
  usage_in_order: ['usage', 'account', 'day', 'key_id', 'surface'],
  reviews_in_order: ['reviews', 'account', 'review_id', 'created_at'],
  reviews_in_state: ['reviews', 'account', 'state', 'review_id', 'expires_at', 'created_at'],
  reviews_by_key: ['reviews', 'account', 'key_id', 'review_id', 'created_at'],
  reviews_of_subject: ['reviews', 'account', 'lineage', 'surface', 'route', 'digest', 'review_id'],
  reviews_by_end: ['reviews', 'purged_at', 'decided_at', 'expires_at'],
  deliveries_by_due: ['deliveries', 'state', 'next_at', 'delivery_id'],
  deliveries_by_age: ['deliveries', 'state', 'created_at'],
  deliveries_by_account: ['deliveries', 'account', 'delivery_id'],
  deliveries_in_state: ['deliveries', 'account', 'state', 'delivery_id'],
  users_by_account: ['users', 'account', 'user_id'],
  users_by_role: ['users', 'account', 'role', 'disabled_at'],
  user_sessions_by_age: ['user_sessions', 'created_at'],
  user_sessions_by_use: ['user_sessions', 'seen_at'],
  invitations_by_expiry: ['invitations', 'expires_at'],
  exceptions_about: ['exceptions', 'evaluation_id', 'exception_id'],
  exceptions_in_state: ['exceptions', 'state', 'exception_id'],
  exceptions_in_force: ['exceptions', 'state', 'expires_at', 'exception_id'],
  constitution_versions_by_digest: ['constitution_versions', 'account', 'name', 'digest', 'version'],
  metrics_by_change: ['metrics', 'step_ms', 'written_at', 'at'],
  processes_by_sight: ['processes', 'seen_at']
} as const

const replacedIndexes = [
  'audit_by_time',
  'audit_by_subject',
  'usage_by_day',
  'reviews_by_account',
  'reviews_by_subject',
  'reviews_by_purge',
  'deliveries_due',
  'exceptions_by_evaluation',
  'exceptions_by_state',
  'metrics_by_write'
] as const

export const indexes = (): Migration => ({
  async up(db: Kysely<unknown>) {
    for (const name of replacedIndexes) await db.schema.dropIndex(name).execute()
    for (const [name, [table, ...columns]] of Object.entries(wantedIndexes)) {
      await db.schema
        .createIndex(name)
        .on(table)
        .columns([...columns] as never)
        .execute()
    }
    // Of what is open alone: it stays short.
    await db.schema
      .createIndex('reviews_by_expiry')
      .on('reviews')
      .columns(['account', 'expires_at', 'review_id'])
      .where(sql.ref('state'), '=', sql.lit('pending'))
      .execute()
  }
})
