/** The audit in SQL, and the usage that commits with it: rows of many nodes, each node's chained to the one before. */
import { type SelectQueryBuilder, sql } from 'kysely'
import { type ChainedRow, genesis } from '../audit-chain.js'
import type { AuditFilter, AuditStore } from '../contracts/audit-store.js'
import { storageCall } from '../contracts/failure.js'
import type { UsageRow, UsageStore } from '../contracts/usage-store.js'
import { createJournal, type Group, type Journal, type JournalLog } from '../journal.js'
import type { SpoolOptions } from '../spool.js'
import { entriesPerStep, readSteps, removeSteps, type Stretch, searchSteps } from '../steps.js'
import { createGroupStore, headOf } from './groups.js'
import { toAudit, toHead } from './tables/audit.js'
import { toUsage } from './tables/usage.js'
import type { Database, Tables } from './tables.js'
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

  /** By the index that leads to the fewest rows; what it does not know is looked at in its entries. */
  async function read({ filter = {}, order = 'oldest', after, limit }: AuditPage): Promise<ChainedRow[]> {
    const { query, rest } = driven(db.selectFrom('audit'), filter)
    const { from, to } = filter
    const isWhole = rest.length === 0 && from === undefined && to === undefined
    let wanted = query
    for (const [column, value] of rest) {
      // An expression: no other index is looked through for what the chosen one does not know.
      wanted = wanted.where(sql`${sql.ref(column)} || ''`, '=', value)
    }
    if (from !== undefined) wanted = wanted.where('at', '>=', from)
    if (to !== undefined) wanted = wanted.where('at', '<=', to)
    const edge = async (after: number | undefined) => {
      const entries = inOrder(query, order, { after, until: undefined })
      return (await entries.select('seq').offset(entriesPerStep).limit(1).executeTakeFirst())?.seq
    }
    const rows = await searchSteps({
      after,
      limit,
      edge: isWhole ? undefined : edge,
      rows: (stretch, limit) => inOrder(wanted, order, stretch).selectAll().limit(limit).execute(),
      placeOf: ({ seq }) => seq
    })
    return rows.map(toAudit)
  }

  /** Removes from the beginning of one chain what is older. @returns how many rows, at most `limit` */
  async function pruneStep(db: Database, name: string, before: number, limit: number): Promise<number> {
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

  /** The nodes that any row names, each found by one look into the index. */
  async function nodesOf(): Promise<string[]> {
    const nodes: string[] = []
    for (;;) {
      let query = db.selectFrom('audit').select('node').orderBy('node').limit(1)
      if (nodes.length > 0) query = query.where('node', '>', nodes.at(-1)!)
      const next = await query.executeTakeFirst()
      if (next === undefined) return nodes
      nodes.push(next.node)
    }
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
    read: (page) => storageCall(() => read(page)),
    heads: () =>
      storageCall(async () => {
        const heads = (await db.selectFrom('audit_heads').selectAll().orderBy('node').execute()).map(toHead)
        // A chain whose head was taken away is shown all the same, as one that should have no row.
        const known = new Set(heads.map(({ node }) => node))
        const headless = (await nodesOf()).filter((node) => !known.has(node))
        return [
          ...heads,
          ...headless.map((node) => ({ node, position: 0, hash: genesis, removed: 0, removedHash: genesis }))
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
    async prune(before, limit) {
      let gone = 0
      for (const { node } of await storageCall(() => db.selectFrom('audit_heads').select('node').execute())) {
        const step = (limit: number) => write((db) => pruneStep(db, node, before, limit), 'audit')
        gone += await removeSteps(step, limit - gone)
        if (gone >= limit) break
      }
      // Of processes that were killed.
      await write((db) => db.deleteFrom('journals').where('at', '<', before).execute())
      return gone
    }
  }

  const usage: UsageStore = {
    add: journal.usage.add,
    read: (account, { from, to, keyId, after, limit }) =>
      storageCall(
        () =>
          readSteps(
            async (after: Pick<UsageRow, 'day' | 'keyId' | 'surface'> | undefined, limit) => {
              let query = db
                .selectFrom('usage')
                .selectAll()
                .where('account', '=', account)
                .where('day', '>=', after?.day ?? from)
                .where('day', '<=', to)
                .orderBy('day')
                .orderBy('key_id')
                .orderBy('surface')
                .limit(limit)
              if (keyId !== undefined) query = query.where('key_id', '=', keyId)
              if (after !== undefined) {
                query = query.where(({ eb, refTuple, tuple }) =>
                  eb(refTuple('day', 'key_id', 'surface'), '>', tuple(after.day, after.keyId, after.surface))
                )
              }
              return (await query.execute()).map(toUsage)
            },
            { after, limit }
          ) as Promise<UsageRow[]>
      )
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

type AuditPage = Parameters<AuditStore['read']>[0]

type AuditQuery = SelectQueryBuilder<Tables, 'audit', object>

/** @returns what one index finds of a filter, and the columns that are left to look at */
function driven(query: AuditQuery, { account, kind, keyId, subject, node }: AuditFilter) {
  const asked = { subject, account, key_id: keyId, kind, node }
  const by: (keyof typeof asked)[] =
    subject !== undefined
      ? ['subject']
      : account === undefined
        ? []
        : keyId !== undefined
          ? ['account', 'key_id']
          : kind !== undefined
            ? ['account', 'kind']
            : ['account']
  const rest: [keyof typeof asked, string][] = []
  let chosen = query
  for (const [column, wanted] of Object.entries(asked) as [keyof typeof asked, string | undefined][]) {
    if (wanted === undefined) continue
    if (by.includes(column)) chosen = chosen.where(column, '=', wanted)
    else rest.push([column, wanted])
  }
  return { query: chosen, rest }
}

function inOrder(query: AuditQuery, order: AuditPage['order'], { after, until }: Stretch<number>): AuditQuery {
  const isOldest = order === 'oldest'
  let ordered = query.orderBy('seq', isOldest ? 'asc' : 'desc')
  if (after !== undefined) ordered = ordered.where('seq', isOldest ? '>' : '<', after)
  if (until !== undefined) ordered = ordered.where('seq', isOldest ? '<=' : '>=', until)
  return ordered
}
