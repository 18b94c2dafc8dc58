/** The outbox of the webhook in SQL. */

import { storageCall } from '../contracts/failure.js'
import type { DeliveryRow, DeliveryStore } from '../contracts/reviews.js'
import type { Write } from './database.js'
import { removeSteps } from './steps.js'
import type { Database, DeliveryColumns } from './tables.js'

/** Dead letters are counted up to this number; more makes no difference. */
const mostCounted = 10_000

export function fromDelivery({ subject, ...same }: DeliveryRow): DeliveryColumns {
  return { ...same, reviewId: subject }
}

function toDelivery({ reviewId, ...same }: DeliveryColumns): DeliveryRow {
  return { ...same, subject: reviewId }
}

export function createSqlDeliveries(db: Database, write: Write): DeliveryStore {
  const one = (db: Database, deliveryId: string) =>
    db.selectFrom('deliveries').selectAll().where('deliveryId', '=', deliveryId).executeTakeFirst()

  return {
    take: async ({ channels, now, leasedUntil, limit }) => {
      if (channels.length === 0) return []
      const due = (db: Database) =>
        db
          .selectFrom('deliveries')
          .selectAll()
          .where('state', '=', 'waiting')
          .where('channel', 'in', channels)
          .where('nextAt', '<=', now)
          .orderBy('nextAt')
          .orderBy('deliveryId')
          .limit(limit)
          .execute()
      // Checked without a lock first, since it is called often and is usually empty.
      if ((await storageCall(() => due(db))).length === 0) return []
      return write(async (db) => {
        const rows = await due(db)
        const ids = rows.map(({ deliveryId }) => deliveryId)
        if (ids.length === 0) return []
        await db.updateTable('deliveries').set({ nextAt: leasedUntil }).where('deliveryId', 'in', ids).execute()
        return rows.map(toDelivery)
      }, 'deliveries')
    },

    remove: (deliveryId) =>
      write(async (db) => {
        await db.deleteFrom('deliveries').where('deliveryId', '=', deliveryId).execute()
      }),

    fail: (deliveryId, { attempts, nextAt, error }) =>
      write(async (db) => {
        await db
          .updateTable('deliveries')
          .set({ attempts, nextAt: nextAt, lastError: error, state: nextAt === null ? 'dead' : 'waiting' })
          .where('deliveryId', '=', deliveryId)
          .execute()
      }),

    list: (account, { state, after, limit }) =>
      storageCall(async () => {
        let query = db
          .selectFrom('deliveries')
          .selectAll()
          .where('account', '=', account)
          .orderBy('deliveryId')
          .limit(limit)
        if (state !== undefined) query = query.where('state', '=', state)
        if (after !== undefined) query = query.where('deliveryId', '>', after)
        return (await query.execute()).map(toDelivery)
      }),

    revive: (account, deliveryId, at) =>
      write(async (db) => {
        const { numUpdatedRows } = await db
          .updateTable('deliveries')
          .set({ state: 'waiting', attempts: 0, nextAt: at })
          .where('account', '=', account)
          .where('deliveryId', '=', deliveryId)
          .where('state', '=', 'dead')
          .executeTakeFirst()
        const row = numUpdatedRows === 1n ? await one(db, deliveryId) : undefined
        return row && toDelivery(row)
      }),

    dead: () =>
      storageCall(async () => {
        const dead = db.selectFrom('deliveries').select('deliveryId').where('state', '=', 'dead').limit(mostCounted)
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
            .select('deliveryId')
            .where('state', '=', 'dead')
            .where('createdAt', '<', createdBefore)
            .limit(limit)
          const { numDeletedRows } = await db.deleteFrom('deliveries').where('deliveryId', 'in', old).executeTakeFirst()
          return Number(numDeletedRows)
        })
      )
  }
}
