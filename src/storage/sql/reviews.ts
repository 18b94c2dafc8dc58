/** Reviews in SQL, for every dialect that Kysely speaks. */

import { type SelectQueryBuilder, sql } from 'kysely'
import type { ReviewBound, ReviewBounds } from '../../base/settings.js'
import type { Category } from '../../policy/evaluation.js'
import { storageCall } from '../contracts/failure.js'
import {
  type DeliveryRow,
  type Opened,
  type ReviewPage,
  type ReviewRow,
  type ReviewStore,
  type ReviewSubject,
  sealedBytes,
  unbounded
} from '../contracts/reviews.js'
import type { Write } from './database.js'
import { fromDelivery } from './deliveries.js'
import { entriesPerStep, removeSteps, type Stretch, searchSteps } from './steps.js'
import type { Database, ReviewColumns, Tables } from './tables.js'

/** Placeholder for a deleted text, since the column is not nullable. */
const deleted = new Uint8Array()

/** Column values after a deletion of the texts. */
const withoutTexts = {
  sealedRequest: deleted,
  sealedContext: null,
  sealedHistory: null,
  sealedNote: null,
  sealedApprovalNote: null
}

function fromReview(row: ReviewRow): ReviewColumns {
  return {
    ...row,
    sealedRequest: row.sealedRequest ?? deleted,
    matchedRules: JSON.stringify(row.matchedRules),
    categories: `,${row.categories.map((category) => `${category},`).join('')}`,
    bytes: sealedBytes(row)
  }
}

function toReview({ bytes: _, ...row }: ReviewColumns): ReviewRow {
  return {
    ...row,
    sealedRequest: row.purgedAt === null ? row.sealedRequest : null,
    matchedRules: JSON.parse(row.matchedRules),
    categories: row.categories.split(',').filter((category) => category !== '') as Category[]
  }
}

export function createSqlReviews(db: Database, write: Write): ReviewStore {
  const ofSubject = (db: Database, subject: ReviewSubject) =>
    db
      .selectFrom('reviews')
      .selectAll()
      .where('account', '=', subject.account)
      .where('lineage', '=', subject.lineage)
      .where('surface', '=', subject.surface)
      .where('route', '=', subject.route)
      .where('digest', '=', subject.digest)
      .orderBy('reviewId', 'desc')

  const tell = async (db: Database, notices: readonly DeliveryRow[]) => {
    if (notices.length > 0) await db.insertInto('deliveries').values(notices.map(fromDelivery)).execute()
  }
  /** Changes a review that is open at `at` and that nobody but `by` has claimed. */
  const change = (db: Database, account: string, reviewId: string, { by, at }: { by: string; at: number }) =>
    db
      .updateTable('reviews')
      .where('account', '=', account)
      .where('reviewId', '=', reviewId)
      .where('state', '=', 'pending')
      .where('expiresAt', '>', at)
      .where((is) => is.or([is('claimedUntil', 'is', null), is('claimedUntil', '<=', at), is('claimedBy', '=', by)]))

  return {
    open: (row, notices = [], bounds = unbounded) =>
      write(async (db): Promise<Opened> => {
        const same = await ofSubject(db, row)
          .where('state', '=', 'pending')
          // An expression, so that the index of the subject is used, not that of open reviews.
          .where(sql`expires_at + 0`, '>', row.createdAt)
          .limit(1)
          .executeTakeFirst()
        if (same) return { reviewId: same.reviewId, created: false }
        const full = await fullFor(db, row, bounds)
        if (full !== undefined) return { full, created: false }
        await db.insertInto('reviews').values(fromReview(row)).execute()
        await tell(db, notices)
        return { reviewId: row.reviewId, created: true }
        // One turn for all, since the global bound counts the reviews of everyone.
      }, 'reviews'),

    get: (account, reviewId) =>
      storageCall(async () => {
        const row = await db
          .selectFrom('reviews')
          .selectAll()
          .where('account', '=', account)
          .where('reviewId', '=', reviewId)
          .executeTakeFirst()
        return row && toReview(row)
      }),

    list: (account, page) => storageCall(() => listed(db, account, page)),

    current: (subject, now) =>
      storageCall(async () => {
        const rows = await ofSubject(db, subject).where('expiresAt', '>', now).where('usedAt', 'is', null).execute()
        return rows.map(toReview)
      }),

    claim: (account, reviewId, { by, at, until }) =>
      write(async (db) => {
        const claim = change(db, account, reviewId, { by, at }).set({ claimedBy: by, claimedUntil: until })
        return (await claim.executeTakeFirst()).numUpdatedRows === 1n
      }),

    release: (account, reviewId, by) =>
      write(async (db) => {
        const { numUpdatedRows } = await db
          .updateTable('reviews')
          .set({ claimedBy: null, claimedUntil: null })
          .where('account', '=', account)
          .where('reviewId', '=', reviewId)
          .where('claimedBy', '=', by)
          .executeTakeFirst()
        return numUpdatedRows === 1n
      }),

    approve: (account, reviewId, { by, at, sealedNote }, notices = []) =>
      write(async (db) => {
        const { numUpdatedRows } = await change(db, account, reviewId, { by, at })
          .set({
            approvedBy: by,
            approvedAt: at,
            sealedApprovalNote: sealedNote,
            claimedBy: null,
            claimedUntil: null
          })
          .where('approvedBy', 'is', null)
          .executeTakeFirst()
        if (numUpdatedRows !== 1n) return false
        await tell(db, notices)
        return true
      }),

    decide: (account, reviewId, { state, at, by, sealedNote, approvedBy }, notices = []) =>
      write(async (db) => {
        let decision = change(db, account, reviewId, { by, at }).set({
          state,
          decidedAt: at,
          decidedBy: by,
          sealedNote: sealedNote
        })
        if (approvedBy !== undefined) decision = decision.where('approvedBy', '=', approvedBy)
        if ((await decision.executeTakeFirst()).numUpdatedRows !== 1n) return false
        await tell(db, notices)
        return true
      }),

    use: (account, reviewId, at) =>
      write(async (db) => {
        const { numUpdatedRows } = await db
          .updateTable('reviews')
          .set({ usedAt: at })
          .where('account', '=', account)
          .where('reviewId', '=', reviewId)
          .where('state', '=', 'permitted')
          .where('usedAt', 'is', null)
          .where('expiresAt', '>', at)
          .executeTakeFirst()
        return numUpdatedRows === 1n
      }),

    pending: (now) =>
      storageCall(async () => {
        const { depth, oldest } = await db
          .selectFrom('reviews')
          .select((is) => [is.fn.countAll().as('depth'), is.fn.min('createdAt').as('oldest')])
          .where('state', '=', 'pending')
          .where('expiresAt', '>', now)
          .executeTakeFirstOrThrow()
        return { depth: Number(depth), oldestCreatedAt: oldest ?? undefined }
      }),

    purgeTexts: ({ endedBefore, at, limit }) =>
      removeSteps(
        (limit) =>
          write(async (db) => {
            const ids = await endedBy(db, endedBefore, limit)
            if (ids.length === 0) return 0
            const purge = db.updateTable('reviews').set({ ...withoutTexts, purgedAt: at })
            await purge.where('reviewId', 'in', ids).execute()
            return ids.length
          }),
        limit,
        textsPerStep
      )
  }
}

/** Reviews per statement: reading a row reads its text, of up to a megabyte. */
const textsPerStep = 20
/** Entries of an index that are looked at in one statement where each takes its row. */
const rowsLookedAt = 100

/** The columns that are no text. */
const facts = [
  'reviewId',
  'account',
  'keyId',
  'lineage',
  'surface',
  'route',
  'policy',
  'digest',
  'state',
  'riskScore',
  'matchedRules',
  'categories',
  'detections',
  'createdAt',
  'expiresAt',
  'claimedBy',
  'claimedUntil',
  'approvedBy',
  'approvedAt',
  'decidedAt',
  'decidedBy',
  'usedAt',
  'purgedAt',
  'bytes'
] as const

type Query = SelectQueryBuilder<Tables, 'reviews', object>

async function listed(db: Database, account: string, page: ReviewPage): Promise<ReviewRow[]> {
  const { state, category, keyId, createdBefore, createdAfter, now, order = 'newest', after, limit } = page
  const isNewest = order === 'newest'
  const stored = state === 'expired' ? 'pending' : state
  let query: Query = db.selectFrom('reviews').where('account', '=', account)
  if (stored !== undefined) query = query.where('state', '=', stored)
  else if (keyId !== undefined) query = query.where('keyId', '=', keyId)
  if (state === 'pending') {
    // Undecided expired reviews accumulate in this index: so the search begins at the oldest open one.
    const { oldest } = await db
      .selectFrom('reviews')
      .select(sql<string | null>`min(review_id || '')`.as('oldest'))
      .where('account', '=', account)
      .where('state', '=', sql.lit('pending'))
      .where('expiresAt', '>', now)
      .executeTakeFirstOrThrow()
    if (oldest === null) return []
    query = query.where('reviewId', '>=', oldest)
  }
  const inOrder = (query: Query, { after, until }: Stretch<string>): Query => {
    let ordered = query.orderBy('reviewId', isNewest ? 'desc' : 'asc')
    if (after !== undefined) ordered = ordered.where('reviewId', isNewest ? '<' : '>', after)
    if (until !== undefined) ordered = ordered.where('reviewId', isNewest ? '>=' : '<=', until)
    return ordered
  }
  // Expressions, so that the database does not use another index for these conditions.
  let wanted = query
  if (state === 'pending') wanted = wanted.where(sql`expires_at + 0`, '>', now)
  if (state === 'expired') wanted = wanted.where(sql`expires_at + 0`, '<=', now)
  if (createdBefore !== undefined) wanted = wanted.where('createdAt', '<', createdBefore)
  if (createdAfter !== undefined) wanted = wanted.where('createdAt', '>', createdAfter)
  if (category !== undefined) wanted = wanted.where('categories', 'like', `%,${category},%`)
  const looksAtRows = category !== undefined || (keyId !== undefined && state !== undefined)
  if (keyId !== undefined && state !== undefined) wanted = wanted.where(sql`key_id || ''`, '=', keyId)
  const edge = async (after: string | undefined) => {
    const entries = inOrder(query, { after, until: undefined }).select('reviewId')
    const offset = looksAtRows ? rowsLookedAt : entriesPerStep
    return (await entries.offset(offset).limit(1).executeTakeFirst())?.reviewId
  }
  const rows = await searchSteps({
    after,
    limit,
    step: textsPerStep,
    edge: wanted === query ? undefined : edge,
    rows: (stretch, limit) => inOrder(wanted, stretch).select(facts).limit(limit).execute(),
    placeOf: ({ reviewId }) => reviewId
  })
  return rows.map((row) => ({ ...toReview({ ...row, ...withoutTexts }), sealedRequest: null }))
}

/** Reviews whose texts must be deleted: decided, or expired undecided, before. */
async function endedBy(db: Database, before: number, limit: number): Promise<string[]> {
  const kept = db.selectFrom('reviews').select('reviewId').where('purgedAt', 'is', null).limit(limit)
  const decided = await kept.where('decidedAt', '<', before).execute()
  const wanted = limit - decided.length
  const expired =
    wanted === 0
      ? []
      : await kept.where('decidedAt', 'is', null).where('expiresAt', '<', before).limit(wanted).execute()
  return [...decided, ...expired].map(({ reviewId }) => reviewId)
}

/**
 * Counts in indexes of open reviews only, shortest first: refusing a caller who has used up their share costs only a
 * count of that share.
 */
async function fullFor(db: Database, row: ReviewRow, bounds: ReviewBounds): Promise<ReviewBound | undefined> {
  const open = db
    .selectFrom('reviews')
    .where('state', '=', sql.lit('pending'))
    .where('expiresAt', '>', row.createdAt)
    .select(({ fn }) => fn.countAll<number>().as('count'))
  const ofAccount = open.where('account', '=', row.account)
  if (bounds.key !== Infinity) {
    const { count } = await ofAccount.where('lineage', '=', row.lineage).executeTakeFirstOrThrow()
    if (count >= bounds.key) return 'key'
  }
  if (bounds.account !== Infinity) {
    const { count } = await ofAccount.executeTakeFirstOrThrow()
    if (count >= bounds.account) return 'account'
  }
  if (bounds.total === Infinity && bounds.bytes === Infinity) return undefined
  const all = await open
    .select(({ fn }) => fn.sum<number | string | null>('bytes').as('bytes'))
    .executeTakeFirstOrThrow()
  if (all.count >= bounds.total) return 'total'
  return Number(all.bytes ?? 0) + sealedBytes(row) > bounds.bytes ? 'bytes' : undefined
}
