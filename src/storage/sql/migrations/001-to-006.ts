/** The changes of the tables from 001 to 006. What was released is never edited. */

import { type Kysely, type Migration, sql } from 'kysely'
import { chain, genesis } from '../../journal/chain.js'
import type { ColumnTypes } from '../database.js'

export const keys = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('accounts')
      .addColumn('id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('keys')
      .addColumn('key_id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('account', types.text, (c) => c.notNull().references('accounts.id'))
      .addColumn('lineage', types.text, (c) => c.notNull())
      .addColumn('prefix', types.text, (c) => c.notNull())
      .addColumn('environment', types.text, (c) => c.notNull().check(sql`environment in ('live', 'test')`))
      .addColumn('name', types.text, (c) => c.notNull())
      .addColumn('scopes', types.text, (c) => c.notNull())
      .addColumn('ip_allowlist', types.text, (c) => c.notNull())
      .addColumn('rate_limit_per_minute', 'integer')
      .addColumn('hash', types.bytes, (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('last_used_at', 'bigint')
      .addColumn('expires_at', 'bigint')
      .addColumn('revoked_at', 'bigint')
      .addColumn('grace_ends_at', 'bigint')
      .addColumn('rotated_to', types.text)
      .execute()
    await db.schema.createIndex('keys_by_prefix').unique().on('keys').column('prefix').execute()
    await db.schema.createIndex('keys_by_account').unique().on('keys').columns(['account', 'key_id']).execute()
  }
})

export const reviews = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('reviews')
      .addColumn('review_id', types.text, (c) => c.primaryKey().notNull())
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('key_id', types.text, (c) => c.notNull())
      .addColumn('lineage', types.text, (c) => c.notNull())
      .addColumn('surface', types.text, (c) => c.notNull())
      .addColumn('route', types.text, (c) => c.notNull())
      .addColumn('policy', types.text, (c) => c.notNull())
      .addColumn('digest', types.text, (c) => c.notNull())
      .addColumn('sealed_request', types.bytes, (c) => c.notNull())
      .addColumn('sealed_context', types.bytes)
      .addColumn('sealed_note', types.bytes)
      .addColumn('state', types.text, (c) => c.notNull().check(sql`state in ('pending', 'permitted', 'forbidden')`))
      .addColumn('risk_score', 'double precision', (c) => c.notNull())
      .addColumn('matched_rules', types.text, (c) => c.notNull())
      .addColumn('detections', types.text, (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .addColumn('decided_at', 'bigint')
      .addColumn('decided_by', types.text)
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
})

export const audit = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('audit')
      .addColumn('seq', types.counter, types.countsUp)
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('kind', types.text, (c) => c.notNull())
      .addColumn('account', types.text)
      .addColumn('key_id', types.text)
      .addColumn('data', types.text, (c) => c.notNull())
      .execute()
  }
})

export const constitutions = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    const origins = sql`('file', 'api', 'command')`
    await db.schema
      .createTable('constitutions')
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('name', types.text, (c) => c.notNull())
      .addColumn('versions', 'integer', (c) => c.notNull())
      .addColumn('latest', 'integer', (c) => c.notNull())
      .addColumn('active', 'integer')
      .addColumn('activated_origin', types.text, (c) => c.check(sql`activated_origin in ${origins}`))
      .addColumn('activated_at', 'bigint')
      .addColumn('activated_by', types.text)
      .addColumn('file_digest', types.text)
      .addPrimaryKeyConstraint('constitutions_key', ['account', 'name'])
      .execute()
    await db.schema
      .createTable('constitution_versions')
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('name', types.text, (c) => c.notNull())
      .addColumn('version', 'integer', (c) => c.notNull())
      .addColumn('declared', types.text, (c) => c.notNull())
      .addColumn('digest', types.text, (c) => c.notNull())
      .addColumn('length', 'integer', (c) => c.notNull())
      .addColumn('origin', types.text, (c) => c.notNull().check(sql`origin in ${origins}`))
      .addColumn('note', types.text)
      .addColumn('source', types.text, (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('created_by', types.text)
      .addPrimaryKeyConstraint('constitution_versions_key', ['account', 'name', 'version'])
      .execute()
    await db.schema
      .createTable('constitution_activations')
      .addColumn('seq', types.counter, types.countsUp)
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('name', types.text, (c) => c.notNull())
      .addColumn('from_version', 'integer')
      .addColumn('to_version', 'integer', (c) => c.notNull())
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('by', types.text)
      .addColumn('origin', types.text, (c) => c.notNull().check(sql`origin in ${origins}`))
      .execute()
    await db.schema
      .createIndex('constitution_activations_by_name')
      .on('constitution_activations')
      .columns(['account', 'name', 'seq'])
      .execute()
  }
})

/** A row of before, as the database names its columns: a migration knows no later form of the tables. */
interface OldAuditRow {
  seq: number
  at: number
  kind: string
  account: string | null
  key_id: string | null
  data: string
}
type OldTables = { audit: Record<string, unknown>; audit_before: OldAuditRow; audit_heads: object }

/** The chain of what was written before there were chains: from here on it cannot be changed unseen either. */
const oldChain = 'before-chains'
const page = 80

/** Rows tied together by hashes, one chain for each node. */
export const auditChain = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('audit').renameTo('audit_before').execute()
    await db.schema
      .createTable('audit')
      .addColumn('seq', types.counter, types.countsUp)
      .addColumn('node', types.text, (c) => c.notNull())
      .addColumn('position', 'bigint', (c) => c.notNull())
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('kind', types.text, (c) => c.notNull())
      .addColumn('account', types.text)
      .addColumn('key_id', types.text)
      .addColumn('subject', types.text)
      .addColumn('data', types.text, (c) => c.notNull())
      .addColumn('hash', types.text, (c) => c.notNull())
      .execute()
    await db.schema.createIndex('audit_by_position').unique().on('audit').columns(['node', 'position']).execute()
    await db.schema.createIndex('audit_by_subject').on('audit').columns(['subject']).execute()
    await db.schema.createIndex('audit_by_time').on('audit').columns(['account', 'at']).execute()
    await db.schema
      .createTable('audit_heads')
      .addColumn('node', types.text, (c) => c.primaryKey().notNull())
      .addColumn('position', 'bigint', (c) => c.notNull())
      .addColumn('hash', types.text, (c) => c.notNull())
      .addColumn('removed', 'bigint', (c) => c.notNull())
      .addColumn('removed_hash', types.text, (c) => c.notNull())
      .execute()
    await chainOld(db as Kysely<OldTables>)
    await db.schema.dropTable('audit_before').execute()
  }
})

async function chainOld(db: Kysely<OldTables>): Promise<void> {
  let head = { node: oldChain, position: 0, hash: genesis }
  for (let after = 0; ; ) {
    const rows = await db
      .selectFrom('audit_before')
      .selectAll()
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(page)
      .execute()
    if (rows.length === 0) break
    after = rows.at(-1)!.seq
    const unchained = rows.map(({ at, kind, account, key_id: keyId, data }) => {
      return { at, kind, account, keyId, subject: null, data: JSON.parse(data) }
    })
    const { links, position, hash } = chain(unchained, head)
    head = { node: oldChain, position, hash }
    const stored = links.map(({ json, keyId, data: _, ...same }) => ({ ...same, key_id: keyId, data: json }))
    await db.insertInto('audit').values(stored).execute()
  }
  if (head.position === 0) return
  await db
    .insertInto('audit_heads')
    .values({ ...head, removed: 0, removed_hash: genesis })
    .execute()
}

export const usage = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('usage')
      .addColumn('account', types.text, (c) => c.notNull())
      .addColumn('key_id', types.text, (c) => c.notNull())
      .addColumn('environment', types.text, (c) => c.notNull())
      .addColumn('surface', types.text, (c) => c.notNull())
      .addColumn('day', types.text, (c) => c.notNull())
      .addColumn('evaluations', 'bigint', (c) => c.notNull())
      .addColumn('characters', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('usage_key', ['account', 'key_id', 'day', 'surface'])
      .execute()
    await db.schema.createIndex('usage_by_day').on('usage').columns(['account', 'day']).execute()
  }
})
