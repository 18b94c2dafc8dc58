/** The store of data keys in SQL, and the list of all columns with sealed texts. */
import { sql } from 'kysely'
import type { DataKeyStore, SealedPlace } from '../contracts/data-keys.js'
import { storageCall } from '../contracts/failure.js'
import type { Write } from './database.js'
import { turn } from './steps.js'
import type { Database } from './tables.js'

/** Every column with sealed texts, under its database name, with the object to which each text is bound. */
export const sealedColumns = [
  { table: 'reviews', id: 'review_id', column: 'sealed_request', field: 'request' },
  { table: 'reviews', id: 'review_id', column: 'sealed_context', field: 'context' },
  { table: 'reviews', id: 'review_id', column: 'sealed_history', field: 'history' },
  { table: 'reviews', id: 'review_id', column: 'sealed_note', field: 'note' },
  { table: 'reviews', id: 'review_id', column: 'sealed_approval_note', field: 'approval_note' },
  { table: 'exceptions', id: 'exception_id', column: 'sealed_note', field: 'note' },
  { table: 'questions', id: 'question_id', column: 'sealed_request', field: 'request' },
  { table: 'upstreams', id: 'upstream_id', column: 'sealed_key', field: 'key' },
  { table: 'samples', id: 'sample_id', column: 'sealed_text', field: 'text' },
  { table: 'pins', id: 'pin_id', column: 'sealed_definition', field: 'definition' },
  { table: 'pins', id: 'pin_id', column: 'sealed_pending', field: 'pending' }
] as const

type SealedColumn = (typeof sealedColumns)[number]

/** Name of the turn: one rotation at a time over all processes. */
const rotating = 'data keys'

export function createSqlDataKeys(db: Database, write: Write): DataKeyStore {
  const list = (db: Database) => db.selectFrom('dataKeys').selectAll().orderBy('createdAt').orderBy('keyId').execute()

  /** Rows of one column whose text begins with a prefix. */
  async function found(
    db: Database,
    { table, id, column }: SealedColumn,
    prefix: Uint8Array,
    after: string,
    limit: number
  ) {
    const [key, text] = [sql.ref(id), sql.ref(column)]
    const { rows } = await sql<{ id: string; sealed: Uint8Array }>`
      select ${key} as id, ${text} as sealed from ${sql.table(table)}
      where ${key} > ${after} and substr(${text}, 1, ${sql.lit(prefix.length)}) = ${prefix} order by ${key} limit ${limit}
    `.execute(db)
    return rows
  }

  return {
    list: () => storageCall(() => list(db)),

    first: (row) =>
      write(async (db) => {
        if ((await list(db)).length > 0) return false
        await db.insertInto('dataKeys').values(row).execute()
        return true
      }, rotating),

    begin: (coming, { keyId, sealedKey }) =>
      write(async (db) => {
        if ((await list(db)).length !== 1) return false
        await db.insertInto('dataKeys').values(coming).execute()
        const { numUpdatedRows } = await db
          .updateTable('dataKeys')
          .set({ sealedKey })
          .where('keyId', '=', keyId)
          .executeTakeFirst()
        if (numUpdatedRows !== 1n) throw new Error(`the current data key is not ${keyId}`)
        return true
      }, rotating),

    promote: (keyId) =>
      write(async (db) => {
        const coming = (await list(db)).find((row) => row.keyId === keyId && row.state === 'coming')
        if (coming === undefined) return false
        await db.updateTable('dataKeys').set({ state: 'leaving' }).where('state', '=', 'current').execute()
        await db.updateTable('dataKeys').set({ state: 'current' }).where('keyId', '=', keyId).execute()
        return true
      }, rotating),

    retire: (keyId) =>
      write(async (db) => {
        const { numDeletedRows } = await db
          .deleteFrom('dataKeys')
          .where('keyId', '=', keyId)
          .where('state', '=', 'leaving')
          .executeTakeFirst()
        if (numDeletedRows !== 1n) return false
        await db.updateTable('dataKeys').set({ sealedKey: null }).execute()
        return true
      }, rotating),

    anySealed: () =>
      storageCall(async () => {
        for (const column of sealedColumns) {
          const text = sql.ref(column.column)
          const { rows } = await sql<{ sealed: Uint8Array }>`
            select ${text} as sealed from ${sql.table(column.table)} where octet_length(${text}) > 0 limit 1
          `.execute(db)
          if (rows[0] !== undefined) return rows[0].sealed
        }
        return undefined
      }),

    reseal: (prefix, { after, limit }, reseal) =>
      write(async (db) => {
        for (let column = after?.column ?? 0; column < sealedColumns.length; column++) {
          const of = sealedColumns[column]!
          const rows = await found(db, of, prefix, column === after?.column ? after.id : '', limit)
          for (const { id, sealed } of rows) {
            const anew = reseal(sealed, { id, field: of.field })
            await sql`
              update ${sql.table(of.table)} set ${sql.ref(of.column)} = ${anew}
              where ${sql.ref(of.id)} = ${id} and ${sql.ref(of.column)} = ${sealed}
            `.execute(db)
          }
          const last = rows.at(-1)
          if (last !== undefined) return { texts: rows.length, last: { column, id: last.id } satisfies SealedPlace }
        }
        return undefined
      }),

    async count(prefix) {
      let texts = 0
      for (const { table, column } of sealedColumns) {
        const { rows } = await storageCall(() =>
          sql<{ count: number }>`
            select count(*) as count from ${sql.table(table)}
            where substr(${sql.ref(column)}, 1, ${sql.lit(prefix.length)}) = ${prefix}
          `.execute(db)
        )
        texts += rows[0]!.count
        await turn()
      }
      return texts
    }
  }
}
