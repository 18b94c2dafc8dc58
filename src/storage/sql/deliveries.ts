/** The outbox of the webhook in SQL. */
import type { DeliveryStore } from '../contracts/delivery-store.js'
import { storageCall } from '../contracts/failure.js'
import { removeSteps } from '../steps.js'
import { toDelivery } from './tables/reviews.js'
import type { Database } from './tables.js'
import type { Write } from './write.js'

/** Of dead letters: beyond it, how many more there are tells nobody what to do. */
const mostCounted = 10_000

export function createSqlDeliveries(db: Database, write: Write): DeliveryStore {
  const one = (db: Database, deliveryId: string) =>
    db.selectFrom('deliveries').selectAll().where('delivery_id', '=', deliveryId).executeTakeFirst()

  return {
    take: async ({ now, leasedUntil, limit }) => {
      const due = (db: Database) =>
        db
          .selectFrom('deliveries')
          .selectAll()
          .where('state', '=', 'waiting')
          .where('next_at', '<=', now)
          .orderBy('next_at')
          .orderBy('delivery_id')
          .limit(limit)
          .execute()
      // Looked at often and empty as a rule: that takes no lock.
      if ((await storageCall(() => due(db))).length === 0) return []
      return write(async (db) => {
        const rows = await due(db)
        const ids = rows.map(({ delivery_id }) => delivery_id)
        if (ids.length === 0) return []
        await db.updateTable('deliveries').set({ next_at: leasedUntil }).where('delivery_id', 'in', ids).execute()
        return rows.map(toDelivery)
      }, 'deliveries')
    },

    remove: (deliveryId) =>
      write(async (db) => {
        await db.deleteFrom('deliveries').where('delivery_id', '=', deliveryId).execute()
      }),

    fail: (deliveryId, { attempts, nextAt, error }) =>
      write(async (db) => {
        await db
          .updateTable('deliveries')
          .set({ attempts, next_at: nextAt, last_error: error, state: nextAt === null ? 'dead' : 'waiting' })
          .where('delivery_id', '=', deliveryId)
          .execute()
      }),

    list: (account, { state, after, limit }) =>
      storageCall(async () => {
        let query = db
          .selectFrom('deliveries')
          .selectAll()
          .where('account', '=', account)
          .orderBy('delivery_id')
          .limit(limit)
        if (state !== undefined) query = query.where('state', '=', state)
        if (after !== undefined) query = query.where('delivery_id', '>', after)
        return (await query.execute()).map(toDelivery)
      }),

    revive: (account, deliveryId, at) =>
      write(async (db) => {
        const { numUpdatedRows } = await db
          .updateTable('deliveries')
          .set({ state: 'waiting', attempts: 0, next_at: at })
          .where('account', '=', account)
          .where('delivery_id', '=', deliveryId)
          .where('state', '=', 'dead')
          .executeTakeFirst()
        const row = numUpdatedRows === 1n ? await one(db, deliveryId) : undefined
        return row && toDelivery(row)
      }),

    dead: () =>
      storageCall(async () => {
        const dead = db.selectFrom('deliveries').select('delivery_id').where('state', '=', 'dead').limit(mostCounted)
        const { count } = await db
          .selectFrom(dead.as('dead'))
          .select((is) => is.fn.countAll().as('count'))
          .executeTakeFirstOrThrow()
        return Number(count)
      }),

    purge: (createdBefore) =>
      removeSteps((limit) =>
        write(async (db) => {
          const old = db
            .selectFrom('deliveries')
            .select('delivery_id')
            .where('state', '=', 'dead')
            .where('created_at', '<', createdBefore)
            .limit(limit)
          const { numDeletedRows } = await db
            .deleteFrom('deliveries')
            .where('delivery_id', 'in', old)
            .executeTakeFirst()
          return Number(numDeletedRows)
        })
      )
  }
}
