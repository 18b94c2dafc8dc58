/** Keys in SQL, for every dialect that Kysely speaks. */
import { sql } from 'kysely'
import { storageCall } from '../contracts/failure.js'
import type { KeyRow, KeyStore } from '../contracts/keys.js'
import type { Write } from './database.js'
import { fromDelivery } from './deliveries.js'
import { readSteps } from './steps.js'
import type { Database, KeyColumns } from './tables.js'

function fromKey({ scopes, ipAllowlist, roots, selfRotation, ...same }: KeyRow): KeyColumns {
  return {
    ...same,
    scopes: JSON.stringify(scopes),
    ipAllowlist: JSON.stringify(ipAllowlist),
    roots: roots.join(','),
    selfRotation: selfRotation ? 1 : 0
  }
}

function toKey({ scopes, ipAllowlist, roots, selfRotation, ...same }: KeyColumns): KeyRow {
  return {
    ...same,
    scopes: JSON.parse(scopes),
    ipAllowlist: JSON.parse(ipAllowlist),
    roots: roots === '' ? [same.lineage] : roots.split(','),
    selfRotation: selfRotation === 1
  }
}

/** Two parameters each, well below the bound of one statement. */
const rowsPerUpdate = 100

const turnOf = (lineage: string) => `lineage ${lineage}`

export function createSqlKeys(db: Database, write: Write): KeyStore {
  async function insert(db: Database, row: KeyRow): Promise<void> {
    await db
      .insertInto('accounts')
      .values({ id: row.account, createdAt: row.createdAt })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
    await db.insertInto('keys').values(fromKey(row)).execute()
  }

  async function isEmpty(db: Database): Promise<boolean> {
    return (await db.selectFrom('keys').select('keyId').limit(1).executeTakeFirst()) === undefined
  }

  const oneKey = (db: Database, account: string, keyId: string) =>
    db.selectFrom('keys').selectAll().where('account', '=', account).where('keyId', '=', keyId).executeTakeFirst()

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

    expiring: ({ now, until, limit }) =>
      storageCall(async () => {
        const rows = await db
          .selectFrom('keys')
          .selectAll()
          .where('expiresAt', '>', now)
          .where('expiresAt', '<=', until)
          .where('revokedAt', 'is', null)
          .where('graceEndsAt', 'is', null)
          .orderBy('expiresAt')
          .orderBy('keyId')
          .limit(limit)
          .execute()
        return rows.map(toKey)
      }),

    list: (account, { lineage, after, limit }) =>
      storageCall(async () => {
        const rows = await readSteps(
          (last: { keyId: string } | undefined, limit) => {
            const query = db.selectFrom('keys').selectAll().where('account', '=', account).orderBy('keyId').limit(limit)
            const chain = lineage === undefined ? query : query.where('lineage', '=', lineage)
            const from = last?.keyId ?? after
            return (from === undefined ? chain : chain.where('keyId', '>', from)).execute()
          },
          { limit }
        )
        return rows.map((row) => toKey(row as Parameters<typeof toKey>[0]))
      }),

    revoke: (account, keyId, at) =>
      write(async (db) => {
        await db
          .updateTable('keys')
          .set({ revokedAt: at })
          .where('account', '=', account)
          .where('keyId', '=', keyId)
          .where('revokedAt', 'is', null)
          .where((is) => is.or([is('graceEndsAt', 'is', null), is('graceEndsAt', '>', at)]))
          .execute()
        const row = await oneKey(db, account, keyId)
        return row && toKey(row)
      }),

    revokeLineage: (account, lineage, at) =>
      write(async (db) => {
        await db
          .updateTable('keys')
          .set({ revokedAt: at })
          .where('account', '=', account)
          .where('lineage', '=', lineage)
          .where('revokedAt', 'is', null)
          .where((is) => is.or([is('graceEndsAt', 'is', null), is('graceEndsAt', '>', at)]))
          .execute()
        const rows = await db
          .selectFrom('keys')
          .selectAll()
          .where('account', '=', account)
          .where('lineage', '=', lineage)
          .orderBy('keyId')
          .execute()
        return rows.map(toKey)
      }, turnOf(lineage)),

    rotate: (account, keyId, at, graceEndsAt, successor, notices = []) =>
      write(async (db) => {
        // The condition is part of the update, so that exactly one of two concurrent rotations succeeds.
        const { numUpdatedRows } = await db
          .updateTable('keys')
          .set({ graceEndsAt: graceEndsAt, rotatedTo: successor.keyId })
          .where('account', '=', account)
          .where('keyId', '=', keyId)
          .where('revokedAt', 'is', null)
          .where('rotatedTo', 'is', null)
          .where((is) => is.or([is('expiresAt', 'is', null), is('expiresAt', '>', at)]))
          .executeTakeFirst()
        if (numUpdatedRows === 0n) return false
        await insert(db, successor)
        if (notices.length > 0) await db.insertInto('deliveries').values(notices.map(fromDelivery)).execute()
        return true
        // Serialised with revocations of the lineage, so that those include this successor.
      }, turnOf(successor.lineage)),

    touch: (uses) =>
      write(async (db) => {
        // Sorted, so that two processes that update the same keys do not deadlock.
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
