/** The audit in SQL, and the usage that commits with it: rows of many nodes, each node's chained to the one before. */
import { genesis } from '../audit-chain.js'
import type { AuditFilter, AuditStore } from '../audit-store.js'
import { storageCall } from '../failure.js'
import { createJournal, type Group, type Journal, type JournalLog } from '../journal.js'
import type { SpoolOptions } from '../spool.js'
import type { UsageStore } from '../usage-store.js'
import { createGroupStore, headOf } from './groups.js'
import { toAudit, toHead } from './tables/audit.js'
import { toUsage } from './tables/usage.js'
import type { Database } from './tables.js'
import type { Write } from './write.js'

export interface AuditOptions {
  /** Names this node's chain. */
  node: string
  /** Where rows wait that the database does not take. Default: in memory alone. */
  spool?: SpoolOptions | undefined
  /** Where large groups are stored, so that the event loop need not wait for the disk. Default: nowhere else. */
  aside?: Aside | undefined
  log?: JournalLog | undefined
}

/** Another thread that stores groups. */
export interface Aside {
  /** @returns whether it has taken and stored it; where it rejects, it may have */
  store(group: Group): Promise<boolean>
  close(): Promise<void>
}

export interface SqlAudit {
  audit: AuditStore
  usage: UsageStore
  /** Takes a group of this or of another process's journal, once. */
  store(group: Group): Promise<void>
  /** Nothing more will come of a journal. */
  forget(journal: string): Promise<void>
  close: Journal['close']
}

export function createSqlAudit(db: Database, write: Write, { node, spool, aside, log }: AuditOptions): SqlAudit {
  const storeHere = createGroupStore(write)
  let hasStored = false
  const store = async (group: Group) => {
    await storeAnywhere(group)
    hasStored = true
  }
  async function storeAnywhere(group: Group): Promise<void> {
    try {
      if (await aside?.store(group)) return
    } catch (error) {
      // Whatever it has done: a group is stored once.
      log?.error({ err: error }, 'the thread that stores the audit failed: stored without it')
    }
    await storeHere(group)
  }
  const forget = async (journal: string) => {
    await write((db) => db.deleteFrom('journals').where('journal', '=', journal).execute())
  }
  const journal = createJournal({ node, store, spool, log })

  const filtered = ({ account, kind, keyId, subject, node, from, to }: AuditFilter) => {
    let query = db.selectFrom('audit').selectAll()
    if (account !== undefined) query = query.where('account', '=', account)
    if (kind !== undefined) query = query.where('kind', '=', kind)
    if (keyId !== undefined) query = query.where('key_id', '=', keyId)
    if (subject !== undefined) query = query.where('subject', '=', subject)
    if (node !== undefined) query = query.where('node', '=', node)
    if (from !== undefined) query = query.where('at', '>=', from)
    if (to !== undefined) query = query.where('at', '<=', to)
    return query
  }

  /** The last position of a chain before which everything is older. */
  async function pruneOne(db: Database, name: string, before: number, limit: number): Promise<number> {
    const { removed } = await headOf(db, name)
    const rows = await db
      .selectFrom('audit')
      .select(['position', 'hash', 'at'])
      .where('node', '=', name)
      .where('position', '>', removed)
      .orderBy('position')
      .limit(limit)
      .execute()
    const young = rows.findIndex(({ at }) => at >= before)
    const last = rows.at(young === -1 ? rows.length - 1 : young - 1)
    if (young === 0 || last === undefined) return 0
    await db.deleteFrom('audit').where('node', '=', name).where('position', '<=', last.position).execute()
    await db
      .updateTable('audit_heads')
      .set({ removed: last.position, removed_hash: last.hash })
      .where('node', '=', name)
      .execute()
    return last.position - removed
  }

  const audit: AuditStore = {
    append: journal.append,
    commit: journal.commit,
    flush: journal.flush,
    get dropped() {
      return journal.dropped
    },
    get waiting() {
      return journal.waiting
    },
    read: ({ filter = {}, order = 'oldest', after, limit }) =>
      storageCall(async () => {
        let query = filtered(filter)
          .orderBy('seq', order === 'oldest' ? 'asc' : 'desc')
          .limit(limit)
        if (after !== undefined) query = query.where('seq', order === 'oldest' ? '>' : '<', after)
        return (await query.execute()).map(toAudit)
      }),
    heads: () =>
      storageCall(async () => {
        const heads = (await db.selectFrom('audit_heads').selectAll().orderBy('node').execute()).map(toHead)
        // A chain whose head was taken away is shown all the same, as one that should have no row.
        const headless = await db
          .selectFrom('audit')
          .select('node')
          .distinct()
          .where(
            'node',
            'not in',
            db.selectFrom('audit_heads').select((is) => is.ref('audit_heads.node').as('node'))
          )
          .execute()
        return [
          ...heads,
          ...headless.map(({ node }) => ({ node, position: 0, hash: genesis, removed: 0, removedHash: genesis }))
        ]
      }),
    chain: (name, { after, limit }) =>
      storageCall(async () => {
        const rows = await db
          .selectFrom('audit')
          .selectAll()
          .where('node', '=', name)
          .where('position', '>', after)
          .orderBy('position')
          .limit(limit)
          .execute()
        return rows.map(toAudit)
      }),
    prune: (before, limit) =>
      write(async (db) => {
        let gone = 0
        for (const { node } of await db.selectFrom('audit_heads').select('node').execute()) {
          gone += await pruneOne(db, node, before, limit)
        }
        // Of processes that were killed.
        await db.deleteFrom('journals').where('at', '<', before).execute()
        return gone
      }, 'audit')
  }

  const usage: UsageStore = {
    add: journal.usage.add,
    read: (account, { from, to, keyId }) =>
      storageCall(async () => {
        let query = db
          .selectFrom('usage')
          .selectAll()
          .where('account', '=', account)
          .where('day', '>=', from)
          .where('day', '<=', to)
          .orderBy('day')
          .orderBy('key_id')
          .orderBy('surface')
        if (keyId !== undefined) query = query.where('key_id', '=', keyId)
        return (await query.execute()).map(toUsage)
      })
  }
  return {
    audit,
    usage,
    store,
    forget,
    async close() {
      const isDone = await journal.close().finally(() => aside?.close())
      if (isDone && hasStored) await forget(journal.id).catch(() => {})
      return isDone
    }
  }
}
