/** Reviews in SQL, for every dialect that Kysely speaks. */

import type { DeliveryRow } from '../delivery-store.js'
import { storageCall } from '../failure.js'
import type { ReviewStore, ReviewSubject } from '../review-store.js'
import { fromDelivery, fromReview, toReview, withoutTexts } from './tables/reviews.js'
import type { Database } from './tables.js'
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
    open: (row, notices = []) =>
      write(async (db) => {
        const same = await ofSubject(db, row)
          .where('state', '=', 'pending')
          .where('expires_at', '>', row.createdAt)
          .limit(1)
          .executeTakeFirst()
        if (same) return { reviewId: same.review_id, created: false }
        await db.insertInto('reviews').values(fromReview(row)).execute()
        await tell(db, notices)
        return { reviewId: row.reviewId, created: true }
      }, `review ${row.digest}`),

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

    list: (account, { state, category, keyId, createdBefore, createdAfter, now, order = 'newest', after, limit }) =>
      storageCall(async () => {
        let query = db
          .selectFrom('reviews')
          .selectAll()
          .where('account', '=', account)
          .orderBy('review_id', order === 'newest' ? 'desc' : 'asc')
          .limit(limit)
        if (after !== undefined) query = query.where('review_id', order === 'newest' ? '<' : '>', after)
        if (state !== undefined) query = query.where('state', '=', state === 'expired' ? 'pending' : state)
        if (state === 'pending') query = query.where('expires_at', '>', now)
        if (state === 'expired') query = query.where('expires_at', '<=', now)
        if (category !== undefined) query = query.where('categories', 'like', `%,${category},%`)
        if (keyId !== undefined) query = query.where('key_id', '=', keyId)
        if (createdBefore !== undefined) query = query.where('created_at', '<', createdBefore)
        if (createdAfter !== undefined) query = query.where('created_at', '>', createdAfter)
        return (await query.execute()).map(toReview)
      }),

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

    decide: (account, reviewId, { state, at, by, sealedNote, secondPerson }, notices = []) =>
      write(async (db) => {
        let decision = change(db, account, reviewId, { by, at }).set({
          state,
          decided_at: at,
          decided_by: by,
          sealed_note: sealedNote
        })
        // Null is unequal to nobody: without a first approval nothing is decided.
        if (secondPerson) decision = decision.where('approved_by', '!=', by)
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
      write(async (db) => {
        const ended = await db
          .selectFrom('reviews')
          .select('review_id')
          .where('purged_at', 'is', null)
          .where((is) =>
            is.or([
              is('decided_at', '<', endedBefore),
              is.and([is('decided_at', 'is', null), is('expires_at', '<', endedBefore)])
            ])
          )
          .limit(limit)
          .execute()
        if (ended.length === 0) return 0
        const ids = ended.map(({ review_id }) => review_id)
        const purge = db.updateTable('reviews').set({ ...withoutTexts, purged_at: at })
        await purge.where('review_id', 'in', ids).execute()
        return ids.length
      })
  }
}
