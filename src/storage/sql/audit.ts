/** The audit store in SQL, with the usage that commits together: rows of many nodes, chained per node. */
import { type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import type { AuditFilter, AuditStore, ChainedRow, UsageRow, UsageStore } from '../contracts/audit.js'
import { storageCall } from '../contracts/failure.js'
import { genesis } from '../journal/chain.js'
import { createJournal, type Journal } from '../journal/journal.js'
import { type Group, type JournalLog, maxGroup } from '../journal/queue.js'
import type { SpoolOptions } from '../journal/spool.js'
import { countCourse } from './course.js'
import type { Write } from './database.js'
import { createGroupStore, headOf } from './groups.js'
import { asksMarks, entriesOf, fitting, leadOf, type Mark, marked, unmark } from './marks.js'
import { entriesPerStep, readSteps, removeSteps, type Stretch, searchSteps, turn } from './steps.js'
import type { AuditColumns, Database, Tables } from './tables.js'

export interface AuditOptions {
  /** Names this node's chain. */
  node: string
  /** The spool for rows while the database fails. Default: only memory. */
  spool?: SpoolOptions | undefined
  /** A thread that stores large groups, so that the event loop need not wait for the disk. Default: none. */
  aside?: Aside | undefined
  log?: JournalLog | undefined
  /** Number of newest rows of the chain to keep. Default: all, until retention removes them. */
  keep?: number | undefined
}

/** Another thread that stores groups. */
export interface Aside {
  /** @returns whether it stored the group; if it rejects, the group may be stored */
  store(group: Group): Promise<boolean>
  /** Most rows of one group; undefined: it accepts none now. */
  readonly groupRows: number | undefined
  close(): Promise<void>
}

export interface SqlAudit {
  audit: AuditStore
  usage: UsageStore
  /** Stores a group of any process's journal, once. */
  store(group: Group): Promise<void>
  /** Removes the record of a finished journal. */
  forget(journal: string): Promise<void>
  close: Journal['close']
}

export function createSqlAudit(db: Database, write: Write, { node, spool, aside, log, keep }: AuditOptions): SqlAudit {
  const storeHere = createGroupStore(write)
  let hasStored = false
  const store = async (group: Group) => {
    await storeAnywhere(group)
    hasStored = true
    sinceTrim += group.rows.length
    if (keep !== undefined && sinceTrim > keep / 10) await trim(keep)
  }
  /** Rows that were stored since the oldest were last removed. */
  let sinceTrim = 0
  async function trim(keep: number): Promise<void> {
    sinceTrim = 0
    await write(async (db) => {
      const { position, removed } = await headOf(db, node)
      if (position - keep > removed) await pruneStep(db, node, Infinity, position - keep - removed)
    }, 'audit')
  }
  async function storeAnywhere(group: Group): Promise<void> {
    try {
      if (await aside?.store(group)) return
    } catch (error) {
      // Safe to store again here, since a group is stored only once.
      log?.error({ err: error }, 'the thread that stores the audit failed: stored without it')
    }
    await storeHere(group)
  }
  const forget = async (journal: string) => {
    await write((db) => db.deleteFrom('journals').where('journal', '=', journal).execute())
  }
  const journal = createJournal({ node, store, groupRows: () => aside?.groupRows ?? maxGroup, spool, log })

  async function read(page: AuditPage): Promise<ChainedRow[]> {
    const { filter = {}, order = 'oldest', limit } = page
    const lead = leadOf(filter)
    const readOwn = () => (lead === undefined ? readRows(page, filter.account) : readMarked(lead, page))
    // Rows of no account have no marks.
    if (filter.withProgram !== true || filter.account === undefined || asksMarks(filter)) return readOwn()
    // Two reads, since no index has the rows of either account and of none in order. A row that is stored between them
    // waits for the next page: the other read may have missed an earlier one.
    const { last } = await db
      .selectFrom('audit')
      .select(({ fn }) => fn.max('seq').as('last'))
      .executeTakeFirstOrThrow()
    const all = [...(await readOwn()), ...(await readRows(page, null))].filter(({ seq }) => seq <= Number(last))
    return all.sort((a, b) => (order === 'oldest' ? a.seq - b.seq : b.seq - a.seq)).slice(0, limit)
  }

  /**
   * Uses the index with the fewest rows, and checks the other conditions on its entries.
   * @param account null: the rows of none; undefined: all
   */
  async function readRows(page: AuditPage, account: string | null | undefined): Promise<ChainedRow[]> {
    const { filter = {}, order = 'oldest', after, limit } = page
    const { query, rest } = driven(db.selectFrom('audit'), { ...filter, account })
    const { from, to } = filter
    const isWhole = rest.length === 0 && !asksMarks(filter) && from === undefined && to === undefined
    let wanted = marked(query, filter)
    for (const [column, value] of rest) {
      // An expression, so that the database does not use another index for this condition.
      const own = sql`${sql.ref(column)} || ''`
      wanted = value === null ? wanted.where(own, 'is', null) : wanted.where(own, '=', value)
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

  /** Reads by the index of marks. */
  async function readMarked(lead: Mark, { filter = {}, order = 'oldest', after, limit }: AuditPage) {
    const entries = entriesOf(db, filter.account!, lead)
    const wanted = fitting(entries, lead, filter)
    const edge = async (after: number | undefined) => {
      const some = inOrder(entries, order, { after, until: undefined })
      return (await some.select('seq').offset(entriesPerStep).limit(1).executeTakeFirst())?.seq
    }
    const found = await searchSteps({
      after,
      limit,
      edge,
      rows: (stretch, limit) => inOrder(wanted, order, stretch).select('seq').limit(limit).execute(),
      placeOf: ({ seq }) => seq
    })
    const direction = order === 'oldest' ? 'asc' : 'desc'
    const rows: ChainedRow[] = []
    for (let start = 0; start < found.length; start += rowsPerRead) {
      const places = found.slice(start, start + rowsPerRead).map(({ seq }) => seq)
      const some = db.selectFrom('audit').selectAll().where('seq', 'in', places).orderBy('seq', direction)
      rows.push(...(await some.execute()).map(toAudit))
      await turn()
    }
    return rows
  }

  /** Removes old rows from the beginning of one chain. @returns how many rows, at most `limit` */
  async function pruneStep(db: Database, name: string, before: number, limit: number): Promise<number> {
    const { removed } = await headOf(db, name)
    const rows = await db
      .selectFrom('audit')
      .select(['seq', 'position', 'hash', 'at', 'kind', 'account', 'data'])
      .where('node', '=', name)
      .where('position', '>', removed)
      .orderBy('position')
      .limit(limit)
      .execute()
    const young = rows.findIndex(({ at }) => at >= before)
    const last = rows.at(young === -1 ? rows.length - 1 : young - 1)
    if (young === 0 || last === undefined) return 0
    const gone = young === -1 ? rows : rows.slice(0, young)
    await unmark(
      db,
      gone.map((row) => ({ ...row, data: JSON.parse(row.data) }))
    )
    await db.deleteFrom('audit').where('node', '=', name).where('position', '<=', last.position).execute()
    await db
      .updateTable('auditHeads')
      .set({ removed: last.position, removedHash: last.hash })
      .where('node', '=', name)
      .execute()
    return last.position - removed
  }

  /** All nodes with rows, each found by one index lookup. */
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
    get isFailing() {
      return journal.isFailing
    },
    get dropped() {
      return journal.dropped
    },
    get waiting() {
      return journal.waiting
    },
    read: (page) => storageCall(() => read(page)),
    course: (asked) => storageCall(() => countCourse(db, asked)),
    heads: () =>
      storageCall(async () => {
        const heads = await db.selectFrom('auditHeads').selectAll().orderBy('node').execute()
        // A chain whose head was deleted is still listed, as one that should have no rows.
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
      for (const { node } of await storageCall(() => db.selectFrom('auditHeads').select('node').execute())) {
        const step = (limit: number) => write((db) => pruneStep(db, node, before, limit), 'audit')
        gone += await removeSteps(step, limit - gone, rowsPerRemoval)
        if (gone >= limit) break
      }
      // Removes journals of killed processes.
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
                .orderBy('keyId')
                .orderBy('surface')
                .limit(limit)
              if (keyId !== undefined) query = query.where('keyId', '=', keyId)
              if (after !== undefined) {
                query = query.where(({ eb, refTuple, tuple }) =>
                  eb(refTuple('day', 'keyId', 'surface'), '>', tuple(after.day, after.keyId, after.surface))
                )
              }
              return query.execute()
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

function toAudit({ data, ...same }: Selectable<AuditColumns>): ChainedRow {
  return { ...same, data: JSON.parse(data) }
}

/** Rows that one statement reads by their numbers. */
const rowsPerRead = 100
/** With their marks: each transaction takes a few milliseconds. */
const rowsPerRemoval = 100

type AuditPage = Parameters<AuditStore['read']>[0]

type AuditQuery = SelectQueryBuilder<Tables, 'audit', object>

/** @returns the query by one index for a filter, and the columns left to check */
function driven(
  query: AuditQuery,
  { account, kind, keyId, subject, node }: Omit<AuditFilter, 'account'> & { account: string | null | undefined }
) {
  const asked = { subject, account, keyId: keyId, kind, node }
  const by: (keyof typeof asked)[] =
    subject !== undefined
      ? ['subject']
      : account === undefined
        ? []
        : keyId !== undefined
          ? ['account', 'keyId']
          : kind !== undefined
            ? ['account', 'kind']
            : ['account']
  const rest: [keyof typeof asked, string | null][] = []
  let chosen = query
  for (const [column, wanted] of Object.entries(asked) as [keyof typeof asked, string | null | undefined][]) {
    if (wanted === undefined) continue
    if (by.includes(column))
      chosen = wanted === null ? chosen.where(column, 'is', null) : chosen.where(column, '=', wanted)
    else rest.push([column, wanted])
  }
  return { query: chosen, rest }
}

function inOrder<Table extends 'audit' | 'marks'>(
  query: SelectQueryBuilder<Tables, Table, object>,
  order: AuditPage['order'],
  { after, until }: Stretch<number>
): SelectQueryBuilder<Tables, Table, object> {
  const isOldest = order === 'oldest'
  let ordered = (query as SelectQueryBuilder<Tables, 'audit' | 'marks', object>).orderBy(
    'seq',
    isOldest ? 'asc' : 'desc'
  )
  if (after !== undefined) ordered = ordered.where('seq', isOldest ? '>' : '<', after)
  if (until !== undefined) ordered = ordered.where('seq', isOldest ? '<=' : '>=', until)
  return ordered as SelectQueryBuilder<Tables, Table, object>
}
