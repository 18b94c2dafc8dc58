/** Copies all rows of an SQLite store to PostgreSQL, or none. */
import { type Kysely, sql } from 'kysely'
import { markStored } from './marks.js'
import type { Database } from './tables.js'

/** Ten columns and more each, below the bound on parameters of one statement. */
const rowsPerInsert = 100

export interface Copied {
  table: string
  rows: number
}

type Anything = Kysely<Record<string, Record<string, unknown>>>
type Row = Record<string, unknown>

/**
 * Both migrated. Holds the source's write lock, so that a running server cannot store rows that would be missed.
 * @throws an Error where the target has rows already, or differs from the source at the end
 */
export async function copyRows(source: Database, target: Database): Promise<Copied[]> {
  // Columns and tables by the names that the databases have for them.
  return source
    .withoutPlugins()
    .transaction()
    .execute((source) =>
      target
        .withoutPlugins()
        .transaction()
        .execute(async (target) => {
          const copied: Copied[] = []
          // Marks are made anew from the rows.
          const tables = (await tablesOf(target)).filter(({ name }) => name !== 'marks')
          for (const { name } of tables) {
            if ((await countOf(target, name)) > 0)
              throw new Error(`the target holds rows in ${name} already: it must be empty`)
          }
          for (const { name, counter } of tables) {
            const rows = await copyTable(source as unknown as Anything, target as unknown as Anything, name)
            // Numbers go on where the source stopped.
            if (counter !== undefined && rows > 0) {
              await sql`select setval(pg_get_serial_sequence(${name}, ${counter}), (select max(${sql.ref(counter)}) from ${sql.table(name)}))`.execute(
                target
              )
            }
            const [there, here] = [await countOf(source, name), await countOf(target, name)]
            if (rows !== there || rows !== here)
              throw new Error(`${name}: ${there} rows in the source, ${here} in the target`)
            copied.push({ table: name, rows })
          }
          await markStored(target as unknown as Database)
          return copied
        })
    )
}

async function copyTable(source: Anything, target: Anything, name: string): Promise<number> {
  let rows = 0
  let after = 0
  for (;;) {
    const { rows: page } = await sql<Row>`
      select rowid as copied_row, * from ${sql.table(name)} where rowid > ${after} order by rowid limit ${rowsPerInsert}
    `.execute(source)
    const last = page.at(-1)
    if (last === undefined) return rows
    after = last['copied_row'] as number
    await target
      .insertInto(name)
      .values(page.map(({ copied_row: _, ...row }) => row))
      .execute()
    rows += page.length
  }
}

async function countOf(db: Database, name: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)}`.execute(db)
  return rows[0]!.count
}

/** The tables of the product; those that others refer to come first. */
async function tablesOf(db: Database): Promise<{ name: string; counter: string | undefined }[]> {
  const { rows: references } = await sql<{ child: string; parent: string }>`
    select conrelid::regclass::text as child, confrelid::regclass::text as parent from pg_constraint where contype = 'f'
  `.execute(db)
  const waiting = (await db.introspection.getTables())
    .filter(({ isView }) => !isView)
    .map(({ name, columns }) => ({ name, counter: columns.find((column) => column.isAutoIncrementing)?.name }))
  const ordered: typeof waiting = []
  while (waiting.length > 0) {
    const ready = waiting.findIndex(({ name }) =>
      references.every(
        ({ child, parent }) => child !== name || parent === name || !waiting.some((one) => one.name === parent)
      )
    )
    ordered.push(...waiting.splice(Math.max(0, ready), 1))
  }
  return ordered
}
