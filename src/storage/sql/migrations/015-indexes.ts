import { type Kysely, type Migration, sql } from 'kysely'

/** Indexes by which every list, sum and deletion finds what it wants without looking at the rest, and none that is used no more. */
const wanted = {
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

const replaced = [
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
    for (const name of replaced) await db.schema.dropIndex(name).execute()
    for (const [name, [table, ...columns]] of Object.entries(wanted)) {
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
