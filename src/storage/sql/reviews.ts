/** Reviews in SQL, for every dialect that Kysely speaks. */
import { storageCall } from '../failure.js'
import type { ReviewStore, ReviewSubject } from '../review-store.js'
import { fromReview, toReview } from './tables/reviews.js'
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

  return {
    open: (row) =>
      write(async (db) => {
        const same = await ofSubject(db, row)
          .where('state', '=', 'pending')
          .where('expires_at', '>', row.createdAt)
          .limit(1)
          .executeTakeFirst()
        if (same) return { reviewId: same.review_id, created: false }
        await db.insertInto('reviews').values(fromReview(row)).execute()
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

    list: (account, { state, now, before, limit }) =>
      storageCall(async () => {
        let query = db
          .selectFrom('reviews')
          .selectAll()
          .where('account', '=', account)
          .orderBy('review_id', 'desc')
          .limit(limit)
        if (before !== undefined) query = query.where('review_id', '<', before)
        if (state !== undefined) query = query.where('state', '=', state === 'expired' ? 'pending' : state)
        if (state === 'pending') query = query.where('expires_at', '>', now)
        if (state === 'expired') query = query.where('expires_at', '<=', now)
        return (await query.execute()).map(toReview)
      }),

    current: (subject, now) =>
      storageCall(async () => {
        const rows = await ofSubject(db, subject).where('expires_at', '>', now).where('used_at', 'is', null).execute()
        return rows.map(toReview)
      }),

    decide: (account, reviewId, { state, at, by, sealedNote }) =>
      write(async (db) => {
        const { numUpdatedRows } = await db
          .updateTable('reviews')
          .set({ state, decided_at: at, decided_by: by, sealed_note: sealedNote })
          .where('account', '=', account)
          .where('review_id', '=', reviewId)
          .where('state', '=', 'pending')
          .where('expires_at', '>', at)
          .executeTakeFirst()
        return numUpdatedRows === 1n
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
      })
  }
}
