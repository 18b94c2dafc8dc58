/**
 * Marks, the search index of verdicts in the audit: a few entries for each row, one for its decision, one for each
 * rule, and so on. They derive from the row alone, so they can be rebuilt; the hash chain, not they, proves a row.
 */
import { CompiledQuery, type SelectQueryBuilder, sql } from 'kysely'
import { type AuditFilter, type AuditRow, markNames, stopped } from '../contracts/audit.js'
import { turn } from './steps.js'
import type { Database, MarkColumns, Tables } from './tables.js'

/** Risk steps with entries: a search from 0.8 on scans those from 0.7 on. */
const scoreSteps = [0.9, 0.7, 0.5] as const
/** Six parameters each: below the bound of the oldest SQLite builds, 999. */
const marksPerInsert = 120
/** Rows per statement when all marks are rebuilt. */
const rowsPerStep = 500

/** Kinds of rows with marks. */
const kinds: readonly string[] = ['evaluation', 'fail_open', 'fail_closed', 'upstream_failed']

type Marked = Pick<AuditRow, 'at' | 'kind' | 'account' | 'data'> & {
  seq: number
}

export function marksOf({ seq, at, kind, account, data }: Marked): MarkColumns[] {
  if (account === null || !kinds.includes(kind)) return []
  const score = typeof data['risk_score'] === 'number' ? data['risk_score'] : 0
  const marks: MarkColumns[] = []
  const add = (name: string, values: unknown) => {
    for (const value of new Set(Array.isArray(values) ? values : [values])) {
      if (typeof value === 'string') marks.push({ account, name, value, seq, at, score })
    }
  }
  const { decision, status } = data
  add('decision', decision === undefined || decision === 'permit' ? decision : [decision, stopped])
  add('rule', data['rules'])
  add('category', data['categories'])
  add('reader', data['readers'])
  add('code', data['code'])
  if (typeof status === 'number') add('status', [String(status), `${Math.floor(status / 100)}xx`])
  add('model', data['model'])
  add('upstream', data['upstream'])
  add('route', data['route'])
  add('score', scoreSteps.filter((step) => score >= step).map(String))
  return marks
}

/** @returns a function that writes the marks of newly stored rows; one for each store, since it caches statements */
export function createMarker() {
  /** Statements by number of marks, since building such a text costs more than running it. */
  const inserts: string[] = []
  return async (db: Database, rows: readonly Marked[]): Promise<void> => {
    const all = rows.flatMap(marksOf)
    for (let i = 0; i < all.length; i += marksPerInsert) {
      const marks = all.slice(i, i + marksPerInsert)
      inserts[marks.length] ??= db.insertInto('marks').values(marks).compile().sql
      // The parameters are the values row by row: every mark names its columns in the same order.
      await db.executeQuery(CompiledQuery.raw(inserts[marks.length]!, marks.flatMap(Object.values)))
    }
  }
}

/** Removes the marks of removed rows. */
export async function unmark(db: Database, rows: readonly Marked[]): Promise<void> {
  const places = new Map<string, MarkColumns[]>()
  for (const mark of rows.flatMap(marksOf)) {
    const place = JSON.stringify([mark.account, mark.name, mark.value])
    const marks = places.get(place)
    if (marks === undefined) places.set(place, [mark])
    else marks.push(mark)
  }
  for (const marks of places.values()) {
    const { account, name, value } = marks[0]!
    await db
      .deleteFrom('marks')
      .where('account', '=', account)
      .where('name', '=', name)
      .where('value', '=', value)
      .where(
        'seq',
        'in',
        marks.map(({ seq }) => seq)
      )
      .execute()
  }
}

/** Marks every stored row. All tables and columns in it have the same name with and without plugins. */
export async function markStored(db: Database): Promise<void> {
  const mark = createMarker()
  for (let after = 0; ; ) {
    const rows = await db
      .selectFrom('audit')
      .select(['seq', 'at', 'kind', 'account', 'data'])
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(rowsPerStep)
      .execute()
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.seq
    await mark(
      db,
      rows.map((row) => ({ ...row, data: JSON.parse(row.data) }))
    )
    await turn()
  }
}

export type Mark = Pick<MarkColumns, 'name' | 'value'>

/** @returns the marks that a filter requires, presumably rarest first */
function asked({ marks = {} }: AuditFilter): Mark[] {
  return markNames.flatMap((name) => {
    const value = marks[name]
    return value === undefined ? [] : { name, value }
  })
}

/** @returns the mark by which a search finds the fewest rows; undefined where an index of the rows themselves is better */
export function leadOf(filter: AuditFilter): Mark | undefined {
  const { account, subject, keyId, minScore = 0 } = filter
  if (account === undefined || subject !== undefined) return undefined
  const marks = asked(filter)
  const rare = marks.find(
    ({ name, value }) =>
      ['rule', 'category', 'reader', 'code', 'status'].includes(name) || (name === 'decision' && value !== 'permit')
  )
  if (rare !== undefined) return rare
  const step = scoreSteps.find((step) => minScore >= step)
  if (step !== undefined) return { name: 'score', value: String(step) }
  if (keyId !== undefined) return undefined
  return marks.find(({ name }) => name !== 'decision') ?? marks[0]
}

/** Whether a filter has conditions that only marks can answer. */
export function asksMarks(filter: AuditFilter): boolean {
  return asked(filter).length > 0 || filter.minScore !== undefined || filter.maxScore !== undefined
}

/** One index lookup per mark; written as a count, so that the database does not scan another list instead. */
const has = (seq: string, account: string, { name, value }: Mark) => sql<boolean>`(
  select count(*) from marks as other where other.account = ${sql.ref(account)} and other.name = ${name}
  and other.value = ${value} and other.seq = ${sql.ref(seq)}) > 0`

type MarkQuery = SelectQueryBuilder<Tables, 'marks', object>

/** The entries of the leading mark. */
export function entriesOf(db: Database, account: string, { name, value }: Mark): MarkQuery {
  return db.selectFrom('marks').where('account', '=', account).where('name', '=', name).where('value', '=', value)
}

/** The entries whose rows match the whole filter. */
export function fitting(entries: MarkQuery, lead: Mark, filter: AuditFilter): MarkQuery {
  const { from, to, minScore, maxScore, kind, keyId, node } = filter
  let query = entries
  if (from !== undefined) query = query.where('marks.at', '>=', from)
  if (to !== undefined) query = query.where('marks.at', '<=', to)
  if (minScore !== undefined) query = query.where('marks.score', '>=', minScore)
  if (maxScore !== undefined) query = query.where('marks.score', '<=', maxScore)
  for (const mark of asked(filter)) {
    if (mark.name !== lead.name) query = query.where(has('marks.seq', 'marks.account', mark))
  }
  for (const [column, wanted] of Object.entries({ kind, keyId, node })) {
    if (wanted === undefined) continue
    const own = sql`(select ${sql.ref(`audit.${column}`)} from audit where audit.seq = marks.seq)`
    query = query.where(own, '=', wanted)
  }
  return query
}

type AuditQuery = SelectQueryBuilder<Tables, 'audit', object>

/** The rows of another index that have the marks of the filter. */
export function marked(query: AuditQuery, filter: AuditFilter): AuditQuery {
  let wanted = query
  for (const mark of asked(filter)) wanted = wanted.where(has('audit.seq', 'audit.account', mark))
  const { minScore, maxScore } = filter
  if (minScore === undefined && maxScore === undefined) return wanted
  return wanted.where(sql<boolean>`(
    select count(*) from marks as risk where risk.account = audit.account and risk.name = 'decision'
    and risk.value in ('permit', 'stopped') and risk.seq = audit.seq
    and risk.score >= ${minScore ?? 0} and risk.score <= ${maxScore ?? 1}) > 0`)
}
