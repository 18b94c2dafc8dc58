/**
 * Every change of the tables, in order, as a literal list: a release adds an entry and never edits one that was
 * released. Types are those that SQLite and PostgreSQL both know, but for bytes and counters, which the dialect names.
 */
import { type ColumnDataType, type Kysely, type Migration, Migrator, sql } from 'kysely'
import { unavailable } from '../failure.js'
import type { Database } from './tables.js'

/** The two column types that have no common name. */
export interface ColumnTypes {
  bytes: ColumnDataType
  /** An integer primary key that the database counts up. */
  counter: 'integer' | 'bigserial'
}

function migrations({ bytes, counter }: ColumnTypes): Record<string, Migration> {
  return {
    '001-keys': {
      async up(db: Kysely<unknown>) {
        await db.schema
          .createTable('accounts')
          .addColumn('id', 'text', (c) => c.primaryKey().notNull())
          .addColumn('created_at', 'bigint', (c) => c.notNull())
          .execute()
        await db.schema
          .createTable('keys')
          .addColumn('key_id', 'text', (c) => c.primaryKey().notNull())
          .addColumn('account', 'text', (c) => c.notNull().references('accounts.id'))
          .addColumn('lineage', 'text', (c) => c.notNull())
          .addColumn('prefix', 'text', (c) => c.notNull())
          .addColumn('environment', 'text', (c) => c.notNull().check(sql`environment in ('live', 'test')`))
          .addColumn('name', 'text', (c) => c.notNull())
          .addColumn('scopes', 'text', (c) => c.notNull())
          .addColumn('ip_allowlist', 'text', (c) => c.notNull())
          .addColumn('rate_limit_per_minute', 'integer')
          .addColumn('hash', bytes, (c) => c.notNull())
          .addColumn('created_at', 'bigint', (c) => c.notNull())
          .addColumn('last_used_at', 'bigint')
          .addColumn('expires_at', 'bigint')
          .addColumn('revoked_at', 'bigint')
          .addColumn('grace_ends_at', 'bigint')
          .addColumn('rotated_to', 'text')
          .execute()
        await db.schema.createIndex('keys_by_prefix').unique().on('keys').column('prefix').execute()
        await db.schema.createIndex('keys_by_account').unique().on('keys').columns(['account', 'key_id']).execute()
      }
    },
    '002-reviews': {
      async up(db: Kysely<unknown>) {
        await db.schema
          .createTable('reviews')
          .addColumn('review_id', 'text', (c) => c.primaryKey().notNull())
          .addColumn('account', 'text', (c) => c.notNull())
          .addColumn('key_id', 'text', (c) => c.notNull())
          .addColumn('lineage', 'text', (c) => c.notNull())
          .addColumn('surface', 'text', (c) => c.notNull())
          .addColumn('route', 'text', (c) => c.notNull())
          .addColumn('policy', 'text', (c) => c.notNull())
          .addColumn('digest', 'text', (c) => c.notNull())
          .addColumn('sealed_request', bytes, (c) => c.notNull())
          .addColumn('sealed_context', bytes)
          .addColumn('sealed_note', bytes)
          .addColumn('state', 'text', (c) => c.notNull().check(sql`state in ('pending', 'permitted', 'forbidden')`))
          .addColumn('risk_score', 'double precision', (c) => c.notNull())
          .addColumn('matched_rules', 'text', (c) => c.notNull())
          .addColumn('detections', 'text', (c) => c.notNull())
          .addColumn('created_at', 'bigint', (c) => c.notNull())
          .addColumn('expires_at', 'bigint', (c) => c.notNull())
          .addColumn('decided_at', 'bigint')
          .addColumn('decided_by', 'text')
          .addColumn('used_at', 'bigint')
          .execute()
        await db.schema.createIndex('reviews_by_account').on('reviews').columns(['account', 'review_id']).execute()
        await db.schema.createIndex('reviews_by_subject').on('reviews').columns(['lineage', 'digest']).execute()
        await db.schema
          .createIndex('reviews_by_state')
          .on('reviews')
          .columns(['state', 'expires_at', 'created_at'])
          .execute()
      }
    },
    '003-audit': {
      async up(db: Kysely<unknown>) {
        await db.schema
          .createTable('audit')
          .addColumn('seq', counter, (c) => (counter === 'integer' ? c.primaryKey().autoIncrement() : c.primaryKey()))
          .addColumn('at', 'bigint', (c) => c.notNull())
          .addColumn('kind', 'text', (c) => c.notNull())
          .addColumn('account', 'text')
          .addColumn('key_id', 'text')
          .addColumn('data', 'text', (c) => c.notNull())
          .execute()
      }
    },
    '004-constitutions': {
      async up(db: Kysely<unknown>) {
        const origins = sql`('file', 'api', 'command')`
        await db.schema
          .createTable('constitutions')
          .addColumn('account', 'text', (c) => c.notNull())
          .addColumn('name', 'text', (c) => c.notNull())
          .addColumn('versions', 'integer', (c) => c.notNull())
          .addColumn('latest', 'integer', (c) => c.notNull())
          .addColumn('active', 'integer')
          .addColumn('activated_origin', 'text', (c) => c.check(sql`activated_origin in ${origins}`))
          .addColumn('activated_at', 'bigint')
          .addColumn('activated_by', 'text')
          .addColumn('file_digest', 'text')
          .addPrimaryKeyConstraint('constitutions_key', ['account', 'name'])
          .execute()
        await db.schema
          .createTable('constitution_versions')
          .addColumn('account', 'text', (c) => c.notNull())
          .addColumn('name', 'text', (c) => c.notNull())
          .addColumn('version', 'integer', (c) => c.notNull())
          .addColumn('declared', 'text', (c) => c.notNull())
          .addColumn('digest', 'text', (c) => c.notNull())
          .addColumn('length', 'integer', (c) => c.notNull())
          .addColumn('origin', 'text', (c) => c.notNull().check(sql`origin in ${origins}`))
          .addColumn('note', 'text')
          .addColumn('source', 'text', (c) => c.notNull())
          .addColumn('created_at', 'bigint', (c) => c.notNull())
          .addColumn('created_by', 'text')
          .addPrimaryKeyConstraint('constitution_versions_key', ['account', 'name', 'version'])
          .execute()
        await db.schema
          .createTable('constitution_activations')
          .addColumn('seq', counter, (c) => (counter === 'integer' ? c.primaryKey().autoIncrement() : c.primaryKey()))
          .addColumn('account', 'text', (c) => c.notNull())
          .addColumn('name', 'text', (c) => c.notNull())
          .addColumn('from_version', 'integer')
          .addColumn('to_version', 'integer', (c) => c.notNull())
          .addColumn('at', 'bigint', (c) => c.notNull())
          .addColumn('by', 'text')
          .addColumn('origin', 'text', (c) => c.notNull().check(sql`origin in ${origins}`))
          .execute()
        await db.schema
          .createIndex('constitution_activations_by_name')
          .on('constitution_activations')
          .columns(['account', 'name', 'seq'])
          .execute()
      }
    }
  }
}

/** Brings the tables to the newest form; several processes may start at once. */
export async function migrate(db: Database, types: ColumnTypes): Promise<void> {
  const list = migrations(types)
  const migrator = new Migrator({ db, provider: { getMigrations: async () => list } })
  const { error } = await migrator.migrateToLatest()
  if (error) throw unavailable(error)
}
