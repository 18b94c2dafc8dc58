/** Reviews in SQL, for every dialect that Kysely speaks. */

import { type SelectQueryBuilder, sql } from 'kysely'
import type { ReviewBound, ReviewBounds } from '../../base/settings.js'
import type { DeliveryRow } from '../contracts/delivery-store.js'
import { storageCall } from '../contracts/failure.js'
import {
  type Opened,
  type ReviewPage,
  type ReviewRow,
  type ReviewStore,
  type ReviewSubject,
  sealedBytes,
  unbounded
} from '../contracts/review-store.js'
import { entriesPerStep, removeSteps, type Stretch, searchSteps } from '../steps.js'
import { fromDelivery, fromReview, toReview, withoutTexts } from './tables/reviews.js'
import type { Database, Tables } from './tables.js'
import type { Write } from './write.js'

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
      .orderBy('review_id', 'desc')

  const tell = async (db: Database, notices: readonly DeliveryRow[]) => {
    if (notices.length > 0) await db.insertInto('deliveries').values(notices.map(fromDelivery)).execute()
  }
  /** Changes a review that is open at `at` and that nobody but `by` has claimed. */
  const change = (db: Database, account: string, reviewId: string, { by, at }: { by: string; at: number }) =>
    db
      .updateTable('reviews')
      .where('account', '=', account)
      .where('review_id', '=', reviewId)
      .where('state', '=', 'pending')
      .where('expires_at', '>', at)
      .where((is) => is.or([is('claimed_until', 'is', null), is('claimed_until', '<=', at), is('claimed_by', '=', by)]))

  return {
    open: (row, notices = [], bounds = unbounded) =>
      write(async (db): Promise<Opened> => {
        const same = await ofSubject(db, row)
          .where('state', '=', 'pending')
          // An expression: by its subject, and not among everything that is open.
          .where(sql`expires_at + 0`, '>', row.createdAt)
          .limit(1)
          .executeTakeFirst()
        if (same) return { reviewId: same.review_id, created: false }
        const full = await fullFor(db, row, bounds)
        if (full !== undefined) return { full, created: false }
        await db.insertInto('reviews').values(fromReview(row)).execute()
        await tell(db, notices)
        return { reviewId: row.reviewId, created: true }
        // One turn for all: a bound that holds for everyone is kept by looking at everyone's.
      }, 'reviews'),

    get: (account, reviewId) =>
      storageCall(async () => {
        const row = await db
          .selectFrom('reviews')
          .selectAll()
          .where('account', '=', account)
          .where('review_id', '=', reviewId)
          .executeTakeFirst()
        return row && toReview(row)
      }),

    list: (account, page) => storageCall(() => listed(db, account, page)),

    current: (subject, now) =>
      storageCall(async () => {
        const rows = await ofSubject(db, subject).where('expires_at', '>', now).where('used_at', 'is', null).execute()
        return rows.map(toReview)
      }),

    claim: (account, reviewId, { by, at, until }) =>
      write(async (db) => {
        const claim = change(db, account, reviewId, { by, at }).set({ claimed_by: by, claimed_until: until })
        return (await claim.executeTakeFirst()).numUpdatedRows === 1n
      }),

    release: (account, reviewId, by) =>
      write(async (db) => {
        const { numUpdatedRows } = await db
          .updateTable('reviews')
          .set({ claimed_by: null, claimed_until: null })
          .where('account', '=', account)
          .where('review_id', '=', reviewId)
          .where('claimed_by', '=', by)
          .executeTakeFirst()
        return numUpdatedRows === 1n
      }),

    approve: (account, reviewId, { by, at, sealedNote }, notices = []) =>
      write(async (db) => {
        const { numUpdatedRows } = await change(db, account, reviewId, { by, at })
          .set({
            approved_by: by,
            approved_at: at,
            sealed_approval_note: sealedNote,
            claimed_by: null,
            claimed_until: null
          })
          .where('approved_by', 'is', null)
          .executeTakeFirst()
        if (numUpdatedRows !== 1n) return false
        await tell(db, notices)
        return true
      }),

    decide: (account, reviewId, { state, at, by, sealedNote, approvedBy }, notices = []) =>
      write(async (db) => {
        let decision = change(db, account, reviewId, { by, at }).set({
          state,
          decided_at: at,
          decided_by: by,
          sealed_note: sealedNote
        })
        if (approvedBy !== undefined) decision = decision.where('approved_by', '=', approvedBy)
        if ((await decision.executeTakeFirst()).numUpdatedRows !== 1n) return false
        await tell(db, notices)
        return true
      }),

    use: (account, reviewId, at) =>
      write(async (db) => {
        const { numUpdatedRows } = await db
          .updateTable('reviews')
          .set({ used_at: at })
          .where('account', '=', account)
          .where('review_id', '=', reviewId)
          .where('state', '=', 'permitted')
          .where('used_at', 'is', null)
          .where('expires_at', '>', at)
          .executeTakeFirst()
        return numUpdatedRows === 1n
      }),

    pending: (now) =>
      storageCall(async () => {
        const { depth, oldest } = await db
          .selectFrom('reviews')
          .select((is) => [is.fn.countAll().as('depth'), is.fn.min('created_at').as('oldest')])
          .where('state', '=', 'pending')
          .where('expires_at', '>', now)
          .executeTakeFirstOrThrow()
        return { depth: Number(depth), oldestCreatedAt: oldest ?? undefined }
      }),

    purgeTexts: ({ endedBefore, at, limit }) =>
      removeSteps(
        (limit) =>
          write(async (db) => {
            const ids = await endedBy(db, endedBefore, limit)
            if (ids.length === 0) return 0
            const purge = db.updateTable('reviews').set({ ...withoutTexts, purged_at: at })
            await purge.where('review_id', 'in', ids).execute()
            return ids.length
          }),
        limit,
        textsPerStep
      )
  }
}

/** Reviews of one statement: a row cannot be read without passing its text, of a megabyte at most. */
const textsPerStep = 20
/** Entries of an index that are looked at in one statement where each takes its row. */
const rowsLookedAt = 100

/** The columns that are no text. */
const facts = [
  'review_id',
  'account',
  'key_id',
  'lineage',
  'surface',
  'route',
  'policy',
  'digest',
  'state',
  'risk_score',
  'matched_rules',
  'categories',
  'detections',
  'created_at',
  'expires_at',
  'claimed_by',
  'claimed_until',
  'approved_by',
  'approved_at',
  'decided_at',
  'decided_by',
  'used_at',
  'purged_at',
  'bytes'
] as const

type Query = SelectQueryBuilder<Tables, 'reviews', object>

async function listed(db: Database, account: string, page: ReviewPage): Promise<ReviewRow[]> {
  const { state, category, keyId, createdBefore, createdAfter, now, order = 'newest', after, limit } = page
  const isNewest = order === 'newest'
  const stored = state === 'expired' ? 'pending' : state
  let query: Query = db.selectFrom('reviews').where('account', '=', account)
  if (stored !== undefined) query = query.where('state', '=', stored)
  else if (keyId !== undefined) query = query.where('key_id', '=', keyId)
  if (state === 'pending') {
    // Those that expired undecided stand among them, ever more: nothing before the oldest that is open is looked at.
    const { oldest } = await db
      .selectFrom('reviews')
      .select(sql<string | null>`min(review_id || '')`.as('oldest'))
      .where('account', '=', account)
      .where('state', '=', sql.lit('pending'))
      .where('expires_at', '>', now)
      .executeTakeFirstOrThrow()
    if (oldest === null) return []
    query = query.where('review_id', '>=', oldest)
  }
  const inOrder = (query: Query, { after, until }: Stretch<string>): Query => {
    let ordered = query.orderBy('review_id', isNewest ? 'desc' : 'asc')
    if (after !== undefined) ordered = ordered.where('review_id', isNewest ? '<' : '>', after)
    if (until !== undefined) ordered = ordered.where('review_id', isNewest ? '>=' : '<=', until)
    return ordered
  }
  // Expressions: no other index is looked through for what the chosen one does not know.
  let wanted = query
  if (state === 'pending') wanted = wanted.where(sql`expires_at + 0`, '>', now)
  if (state === 'expired') wanted = wanted.where(sql`expires_at + 0`, '<=', now)
  if (createdBefore !== undefined) wanted = wanted.where('created_at', '<', createdBefore)
  if (createdAfter !== undefined) wanted = wanted.where('created_at', '>', createdAfter)
  if (category !== undefined) wanted = wanted.where('categories', 'like', `%,${category},%`)
  const looksAtRows = category !== undefined || (keyId !== undefined && state !== undefined)
  if (keyId !== undefined && state !== undefined) wanted = wanted.where(sql`key_id || ''`, '=', keyId)
  const edge = async (after: string | undefined) => {
    const entries = inOrder(query, { after, until: undefined }).select('review_id')
    const offset = looksAtRows ? rowsLookedAt : entriesPerStep
    return (await entries.offset(offset).limit(1).executeTakeFirst())?.review_id
  }
  const rows = await searchSteps({
    after,
    limit,
    step: textsPerStep,
    edge: wanted === query ? undefined : edge,
    rows: (stretch, limit) => inOrder(wanted, stretch).select(facts).limit(limit).execute(),
    placeOf: ({ review_id }) => review_id
  })
  return rows.map((row) => ({ ...toReview({ ...row, ...withoutTexts }), sealedRequest: null }))
}

/** Reviews whose texts are to go: decided, or expired undecided, before. */
async function endedBy(db: Database, before: number, limit: number): Promise<string[]> {
  const kept = db.selectFrom('reviews').select('review_id').where('purged_at', 'is', null).limit(limit)
  const decided = await kept.where('decided_at', '<', before).execute()
  const wanted = limit - decided.length
  const expired =
    wanted === 0
      ? []
      : await kept.where('decided_at', 'is', null).where('expires_at', '<', before).limit(wanted).execute()
  return [...decided, ...expired].map(({ review_id }) => review_id)
}

/**
 * Counts in indexes that hold nothing but what is open, the shortest first: whoever has used up their own share is refused
 * at the cost of that share.
 */
async function fullFor(db: Database, row: ReviewRow, bounds: ReviewBounds): Promise<ReviewBound | undefined> {
  const open = db
    .selectFrom('reviews')
    .where('state', '=', sql.lit('pending'))
    .where('expires_at', '>', row.createdAt)
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
