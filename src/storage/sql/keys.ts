/** Keys in SQL, for every dialect that Kysely speaks. */
import type { KeyRow, KeyStore } from '../contracts.js'
import { Conflict, storageCall } from '../failure.js'
import { type Database, fromKey, toKey } from './tables.js'

/** @param isConflict tells a violated unique index from every other error of the driver */
export function createSqlKeys(db: Database, isConflict: (error: unknown) => boolean): KeyStore {
  async function insert(db: Database, row: KeyRow): Promise<void> {
    await db
      .insertInto('accounts')
      .values({ id: row.account, created_at: row.createdAt })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
    await db.insertInto('keys').values(fromKey(row)).execute()
  }

  /** A write in one transaction: all of it or nothing. */
  function write<T>(work: (db: Database) => Promise<T>): Promise<T> {
    return storageCall(async () => {
      try {
        return await db.transaction().execute(work)
      } catch (error) {
        throw isConflict(error) ? new Conflict('key id or prefix is taken', { cause: error }) : error
      }
    })
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
      }),

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

    list: (account, { after, limit }) =>
      storageCall(async () => {
        let query = db.selectFrom('keys').selectAll().where('account', '=', account).orderBy('key_id')
        if (after !== undefined) query = query.where('key_id', '>', after)
        if (limit !== undefined) query = query.limit(limit)
        return (await query.execute()).map(toKey)
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

    rotate: (account, keyId, at, graceEndsAt, successor) =>
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
        return true
      }),

    touch: (uses) =>
      write(async (db) => {
        for (const [keyId, at] of uses) {
          await db
            .updateTable('keys')
            .set({ last_used_at: at })
            .where('key_id', '=', keyId)
            .where((is) => is.or([is('last_used_at', 'is', null), is('last_used_at', '<', at)]))
            .execute()
        }
      })
  }
}
