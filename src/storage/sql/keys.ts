/** Keys in SQL, for every dialect that Kysely speaks. */
import { sql } from 'kysely'
import { storageCall } from '../contracts/failure.js'
import type { KeyRow, KeyStore } from '../contracts/key-store.js'
import { readSteps } from '../steps.js'
import { fromKey, toKey } from './tables/keys.js'
import { fromDelivery } from './tables/reviews.js'
import type { Database } from './tables.js'
import type { Write } from './write.js'

/** Two parameters each, well below the bound of one statement. */
const rowsPerUpdate = 100

const turnOf = (lineage: string) => `lineage ${lineage}`

export function createSqlKeys(db: Database, write: Write): KeyStore {
  async function insert(db: Database, row: KeyRow): Promise<void> {
    await db
      .insertInto('accounts')
      .values({ id: row.account, created_at: row.createdAt })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
    await db.insertInto('keys').values(fromKey(row)).execute()
  }

  async function isEmpty(db: Database): Promise<boolean> {
    return (await db.selectFrom('keys').select('key_id').limit(1).executeTakeFirst()) === undefined
  }

  const oneKey = (db: Database, account: string, keyId: string) =>
    db.selectFrom('keys').selectAll().where('account', '=', account).where('key_id', '=', keyId).executeTakeFirst()

  return {
    insert: (row) => write((db) => insert(db, row)),

    insertFirst: (row) =>
      write(async (db) => {
        if (!(await isEmpty(db))) return false
        await insert(db, row)
        return true
      }, 'first key'),

    isEmpty: () => storageCall(() => isEmpty(db)),

    byPrefix: (prefix) =>
      storageCall(async () => {
        const row = await db.selectFrom('keys').selectAll().where('prefix', '=', prefix).executeTakeFirst()
        return row && toKey(row)
      }),

    get: (account, keyId) =>
      storageCall(async () => {
        const row = await oneKey(db, account, keyId)
        return row && toKey(row)
      }),

    list: (account, { lineage, after, limit }) =>
      storageCall(async () => {
        const rows = await readSteps(
          (last: { key_id: string } | undefined, limit) => {
            const query = db
              .selectFrom('keys')
              .selectAll()
              .where('account', '=', account)
              .orderBy('key_id')
              .limit(limit)
            const chain = lineage === undefined ? query : query.where('lineage', '=', lineage)
            const from = last?.key_id ?? after
            return (from === undefined ? chain : chain.where('key_id', '>', from)).execute()
          },
          { limit }
        )
        return rows.map((row) => toKey(row as Parameters<typeof toKey>[0]))
      }),

    revoke: (account, keyId, at) =>
      write(async (db) => {
        await db
          .updateTable('keys')
          .set({ revoked_at: at })
          .where('account', '=', account)
          .where('key_id', '=', keyId)
          .where('revoked_at', 'is', null)
          .where((is) => is.or([is('grace_ends_at', 'is', null), is('grace_ends_at', '>', at)]))
          .execute()
        const row = await oneKey(db, account, keyId)
        return row && toKey(row)
      }),

    revokeLineage: (account, lineage, at) =>
      write(async (db) => {
        await db
          .updateTable('keys')
          .set({ revoked_at: at })
          .where('account', '=', account)
          .where('lineage', '=', lineage)
          .where('revoked_at', 'is', null)
          .where((is) => is.or([is('grace_ends_at', 'is', null), is('grace_ends_at', '>', at)]))
          .execute()
        const rows = await db
          .selectFrom('keys')
          .selectAll()
          .where('account', '=', account)
          .where('lineage', '=', lineage)
          .orderBy('key_id')
          .execute()
        return rows.map(toKey)
      }, turnOf(lineage)),

    rotate: (account, keyId, at, graceEndsAt, successor, notices = []) =>
      write(async (db) => {
        // The condition stands in the update itself, so that of two rotations at once exactly one finds the key open.
        const { numUpdatedRows } = await db
          .updateTable('keys')
          .set({ grace_ends_at: graceEndsAt, rotated_to: successor.keyId })
          .where('account', '=', account)
          .where('key_id', '=', keyId)
          .where('revoked_at', 'is', null)
          .where('rotated_to', 'is', null)
          .where((is) => is.or([is('expires_at', 'is', null), is('expires_at', '>', at)]))
          .executeTakeFirst()
        if (numUpdatedRows === 0n) return false
        await insert(db, successor)
        if (notices.length > 0) await db.insertInto('deliveries').values(notices.map(fromDelivery)).execute()
        return true
        // One that revokes a lineage sees the successor of one that rotates in it, or is seen by it.
      }, turnOf(successor.lineage)),

    touch: (uses) =>
      write(async (db) => {
        // In one order, so that two processes that store the uses of the same keys do not wait for each other.
        const rows = [...uses].sort(([a], [b]) => (a < b ? -1 : 1))
        for (let i = 0; i < rows.length; i += rowsPerUpdate) {
          const values = rows
            .slice(i, i + rowsPerUpdate)
            .map(([keyId, at]) => sql`(cast(${keyId} as text), cast(${at} as bigint))`)
          await sql`
            with used(id, used_at) as (values ${sql.join(values)})
            update keys set last_used_at = used.used_at from used
            where keys.key_id = used.id and (keys.last_used_at is null or keys.last_used_at < used.used_at)
          `.execute(db)
        }
      })
  }
}
