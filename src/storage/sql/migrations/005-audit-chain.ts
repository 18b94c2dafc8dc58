import type { Kysely, Migration } from 'kysely'
import { chain, genesis } from '../../audit-chain.js'
import type { ColumnTypes } from '../dialect.js'
import { type AuditTable, fromAudit } from '../tables/audit.js'

type Before = Omit<AuditTable, 'seq' | 'node' | 'position' | 'subject' | 'hash'> & { seq: number }

/** The chain of what was written before there were chains: from here on it cannot be changed unseen either. */
const node = 'before-chains'
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
    await chainOld(db as Kysely<{ audit: AuditTable; audit_before: Before; audit_heads: object }>)
    await db.schema.dropTable('audit_before').execute()
  }
})

async function chainOld(db: Kysely<{ audit: AuditTable; audit_before: Before; audit_heads: object }>): Promise<void> {
  let head = { node, position: 0, hash: genesis }
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
    head = { node, position, hash }
    await db.insertInto('audit').values(links.map(fromAudit)).execute()
  }
  if (head.position === 0) return
  await db
    .insertInto('audit_heads')
    .values({ ...head, removed: 0, removed_hash: genesis })
    .execute()
}
