/**
 * Samples in SQL, for every dialect that Kysely speaks. A table of totals per account is updated together with them.
 */
import { type SelectQueryBuilder, sql } from 'kysely'
import type { Category, Decision } from '../../policy/evaluation.js'
import { stopped } from '../contracts/audit.js'
import { storageCall } from '../contracts/failure.js'
import type { SampleFacts, SampleFilter, SampleRow, SampleStore, SampleTotals } from '../contracts/samples.js'
import type { Write } from './database.js'
import { removeSteps, type Stretch, searchSteps, turn } from './steps.js'
import type { Database, SampleColumns, Tables } from './tables.js'

/** The columns that are no text. */
const facts = [
  'sampleId',
  'evaluationId',
  'account',
  'keyId',
  'surface',
  'route',
  'policy',
  'decision',
  'riskScore',
  'matchedRules',
  'categories',
  'upstream',
  'model',
  'createdAt',
  'bytes'
] as const

/** Rows of one statement that looks at more than an index. */
const rowsLookedAt = 100
/** Rows of one insertion: fifteen columns each. */
const rowsPerInsert = 40
/** Rows that one transaction removes: their texts are overwritten. */
const rowsPerRemoval = 100
/** Accounts of one statement. */
const accountsPerStep = 100
/** Turn of all counting transactions, so that concurrent ones cannot exceed a bound. */
const counting = 'samples'

function fromSample(row: SampleRow): SampleColumns {
  return {
    ...row,
    matchedRules: JSON.stringify(row.matchedRules),
    categories: `,${row.categories.map((category) => `${category},`).join('')}`,
    bytes: row.sealedText.length
  }
}

function toFacts({ matchedRules, categories, ...same }: Omit<SampleColumns, 'sealedText'>): SampleFacts {
  return {
    ...same,
    decision: same.decision as Decision,
    matchedRules: JSON.parse(matchedRules),
    categories: categories.split(',').filter((category) => category !== '') as Category[]
  }
}

export function createSqlSamples(db: Database, write: Write): SampleStore {
  const remove = (which: readonly string[]) =>
    write(async (db) => {
      const gone = await db
        .deleteFrom('samples')
        .where('sampleId', 'in', [...which])
        .returning(['account', 'bytes'])
        .execute()
      await uncount(db, gone)
      return gone.length
    }, counting)

  const ofAccount = (account: string) => db.selectFrom('samples').where('account', '=', account)

  return {
    add: (rows, bounds) =>
      write(async (db) => {
        for (let i = 0; i < rows.length; i += rowsPerInsert) {
          const some = rows.slice(i, i + rowsPerInsert).map(fromSample)
          await db.insertInto('samples').values(some).execute()
        }
        for (const [account, more] of sums(
          rows.map((row) => ({ account: row.account, bytes: row.sealedText.length }))
        )) {
          await count(db, account, more)
          await evict(db, account, bounds, more.rows + rowsPerRemoval)
        }
      }, counting),

    get: (account, sampleId) =>
      storageCall(async () => {
        const row = await ofAccount(account).selectAll().where('sampleId', '=', sampleId).executeTakeFirst()
        if (row === undefined) return undefined
        const { bytes: _, ...found } = toFacts(row)
        return { ...found, sealedText: row.sealedText }
      }),

    list: (account, { filter = {}, after, limit }) => storageCall(() => listed(db, account, filter, after, limit)),

    async remove(account, sampleId) {
      const found = await storageCall(() =>
        ofAccount(account).select('sampleId').where('sampleId', '=', sampleId).executeTakeFirst()
      )
      return found !== undefined && (await remove([sampleId])) > 0
    },

    async removeAll(account, filter) {
      let gone = 0
      for (let after: string | undefined; ; ) {
        const rows = await storageCall(() => listed(db, account, filter, after, rowsPerRemoval))
        after = rows.at(-1)?.sampleId
        if (after === undefined) return gone
        gone += await remove(rows.map(({ sampleId }) => sampleId))
        if (rows.length < rowsPerRemoval) return gone
        await turn()
      }
    },

    totals: (account) => storageCall(() => totalsOf(db, account)),

    async purge({ createdBefore, bounds, limit }) {
      const old = await removeSteps(
        async (limit) => {
          const rows = await storageCall(() =>
            db.selectFrom('samples').select('sampleId').where('createdAt', '<', createdBefore).limit(limit).execute()
          )
          return rows.length === 0 ? 0 : remove(rows.map(({ sampleId }) => sampleId))
        },
        limit,
        rowsPerRemoval
      )
      let gone = old
      for (let last = ''; gone < limit; ) {
        const accounts = await storageCall(() =>
          db
            .selectFrom('sampleTotals')
            .select('account')
            .where('account', '>', last)
            .orderBy('account')
            .limit(accountsPerStep)
            .execute()
        )
        for (const { account } of accounts) {
          const step = (limit: number) => write((db) => evict(db, account, bounds, limit), counting)
          gone += await removeSteps(step, limit - gone, rowsPerRemoval)
          if (gone >= limit) return gone
        }
        if (accounts.length < accountsPerStep) return gone
        last = accounts.at(-1)!.account
      }
      return gone
    }
  }
}

async function totalsOf(db: Database, account: string): Promise<SampleTotals> {
  const row = await db
    .selectFrom('sampleTotals')
    .select(['rows', 'bytes'])
    .where('account', '=', account)
    .executeTakeFirst()
  return row ?? { rows: 0, bytes: 0 }
}

/** By account. */
function sums(rows: readonly { account: string; bytes: number }[]): Map<string, SampleTotals> {
  const found = new Map<string, SampleTotals>()
  for (const { account, bytes } of rows) {
    const sum = found.get(account) ?? { rows: 0, bytes: 0 }
    found.set(account, { rows: sum.rows + 1, bytes: sum.bytes + bytes })
  }
  return found
}

async function count(db: Database, account: string, more: SampleTotals): Promise<void> {
  await db
    .insertInto('sampleTotals')
    .values({ account, ...more })
    .onConflict((conflict) =>
      conflict.column('account').doUpdateSet({
        rows: sql<number>`sample_totals.rows + excluded.rows`,
        bytes: sql<number>`sample_totals.bytes + excluded.bytes`
      })
    )
    .execute()
}

async function uncount(db: Database, gone: readonly { account: string; bytes: number }[]): Promise<void> {
  for (const [account, { rows, bytes }] of sums(gone)) await count(db, account, { rows: -rows, bytes: -bytes })
}

/** Removes the oldest of an account beyond its bounds. @returns how many, at most `limit` */
async function evict(db: Database, account: string, bounds: SampleTotals, limit: number): Promise<number> {
  const { rows, bytes } = await totalsOf(db, account)
  if (rows <= bounds.rows && bytes <= bounds.bytes) return 0
  const oldest = await db
    .selectFrom('samples')
    .select(['sampleId', 'account', 'bytes'])
    .where('account', '=', account)
    .orderBy('sampleId')
    .limit(limit)
    .execute()
  let left = { rows, bytes }
  const gone = oldest.filter((row) => {
    if (left.rows <= bounds.rows && left.bytes <= bounds.bytes) return false
    left = { rows: left.rows - 1, bytes: left.bytes - row.bytes }
    return true
  })
  const last = gone.at(-1)
  if (last === undefined) return 0
  await db.deleteFrom('samples').where('account', '=', account).where('sampleId', '<=', last.sampleId).execute()
  await uncount(db, gone)
  return gone.length
}

type Query = SelectQueryBuilder<Tables, 'samples', object>

async function listed(
  db: Database,
  account: string,
  { decision, rule, category, route, keyId, evaluationId, from, to }: SampleFilter,
  after: string | undefined,
  limit: number
): Promise<SampleFacts[]> {
  let query: Query = db.selectFrom('samples').where('account', '=', account)
  if (evaluationId !== undefined) query = query.where('evaluationId', '=', evaluationId)
  let wanted = query
  if (decision === stopped) wanted = wanted.where('decision', '!=', 'permit')
  else if (decision !== undefined) wanted = wanted.where('decision', '=', decision)
  if (rule !== undefined)
    wanted = wanted.where(sql<boolean>`matched_rules like ${holding(JSON.stringify(rule))} escape '\\'`)
  if (category !== undefined) wanted = wanted.where('categories', 'like', `%,${category},%`)
  if (route !== undefined) wanted = wanted.where('route', '=', route)
  if (keyId !== undefined) wanted = wanted.where('keyId', '=', keyId)
  // Expressions, so that the index of times is not used, which lacks the requested order.
  if (from !== undefined) wanted = wanted.where(sql`created_at + 0`, '>=', from)
  if (to !== undefined) wanted = wanted.where(sql`created_at + 0`, '<=', to)
  const edge = async (after: string | undefined) => {
    const entries = newestFirst(query, { after, until: undefined }).select('sampleId')
    return (await entries.offset(rowsLookedAt).limit(1).executeTakeFirst())?.sampleId
  }
  const rows = await searchSteps({
    after,
    limit,
    edge: wanted === query ? undefined : edge,
    rows: (stretch, limit) => newestFirst(wanted, stretch).select(facts).limit(limit).execute(),
    placeOf: ({ sampleId }) => sampleId
  })
  return rows.map(toFacts)
}

/** A pattern for values that contain a text. */
function holding(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

function newestFirst(query: Query, { after, until }: Stretch<string>): Query {
  let ordered = query.orderBy('sampleId', 'desc')
  if (after !== undefined) ordered = ordered.where('sampleId', '<', after)
  if (until !== undefined) ordered = ordered.where('sampleId', '>=', until)
  return ordered
}
