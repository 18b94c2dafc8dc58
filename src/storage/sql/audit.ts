/** The audit in SQL, and the usage that commits with it: rows of many nodes, each node's chained to the one before. */
import { CompiledQuery, sql } from 'kysely'
import { chain, genesis, type Link } from '../audit-chain.js'
import type { AuditFilter, AuditStore } from '../audit-store.js'
import { storageCall } from '../failure.js'
import { createJournal, type Group, type Journal, type JournalLog } from '../journal.js'
import type { SpoolOptions } from '../spool.js'
import type { UsageRow, UsageStore } from '../usage-store.js'
import { fromAudit, toAudit, toHead } from './tables/audit.js'
import { fromUsage, toUsage } from './tables/usage.js'
import type { Database } from './tables.js'
import type { Write } from './write.js'

/** Well below the bound on parameters of one statement: 999 in the oldest SQLite builds, 65,535 in PostgreSQL. */
const rowsPerInsert = 80

export interface AuditOptions {
  /** Names this node's chain. */
  node: string
  /** Where rows wait that the database does not take. Default: in memory alone. */
  spool?: SpoolOptions | undefined
  log?: JournalLog | undefined
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

export function createSqlAudit(db: Database, write: Write, { node, spool, log }: AuditOptions): SqlAudit {
  async function headOf(db: Database, name: string) {
    const first = { node: name, position: 0, hash: genesis, removed: 0, removed_hash: genesis }
    await db
      .insertInto('audit_heads')
      .values(first)
      .onConflict((conflict) => conflict.column('node').doNothing())
      .execute()
    return db.selectFrom('audit_heads').selectAll().where('node', '=', name).executeTakeFirstOrThrow()
  }

  /** By number of rows: to write such a text costs more than to run it. */
  const inserts: string[] = []

  async function insert(db: Database, links: readonly Link[]): Promise<void> {
    const rows = links.map(fromAudit)
    inserts[rows.length] ??= db.insertInto('audit').values(rows).compile().sql
    // The parameters are the values row by row: every row names its columns in the same order.
    await db.executeQuery(CompiledQuery.raw(inserts[rows.length]!, rows.flatMap(Object.values)))
  }

  /** Notes how far a journal is stored, in the transaction that stores it. @returns whether this group is new */
  async function advance(db: Database, { journal, number }: Group): Promise<boolean> {
    const advanced = await db
      .insertInto('journals')
      .values({ journal, number, at: Date.now() })
      .onConflict((conflict) =>
        conflict
          .column('journal')
          .doUpdateSet({ number: (is) => is.ref('excluded.number'), at: (is) => is.ref('excluded.at') })
          .whereRef('journals.number', '<', 'excluded.number')
      )
      .returning('journal')
      .execute()
    return advanced.length > 0
  }

  // In turn: numbers are given before the commit, and who reads on after a number must not miss a lower one. And a chain
  // grows at one end, also where the command line writes beside a server of the same name.
  let hasStored = false
  const store = (group: Group) =>
    write(async (db) => {
      // The answer to its commit was lost: PostgreSQL may end between the one and the other.
      if (!(await advance(db, group))) return
      hasStored = true
      const { node, rows, usage } = group
      if (rows.length > 0) {
        const { links, position, hash } = chain(rows, await headOf(db, node))
        for (let i = 0; i < links.length; i += rowsPerInsert) await insert(db, links.slice(i, i + rowsPerInsert))
        await db.updateTable('audit_heads').set({ position, hash }).where('node', '=', node).execute()
      }
      for (let i = 0; i < usage.length; i += rowsPerInsert) await addUsage(db, usage.slice(i, i + rowsPerInsert))
    }, 'audit')
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
      const isDone = await journal.close()
      if (isDone && hasStored) await forget(journal.id).catch(() => {})
      return isDone
    }
  }
}

async function addUsage(db: Database, rows: readonly UsageRow[]): Promise<void> {
  await db
    .insertInto('usage')
    .values(rows.map(fromUsage))
    .onConflict((conflict) =>
      conflict.columns(['account', 'key_id', 'day', 'surface']).doUpdateSet({
        evaluations: sql<number>`usage.evaluations + excluded.evaluations`,
        characters: sql<number>`usage.characters + excluded.characters`
      })
    )
    .execute()
}
