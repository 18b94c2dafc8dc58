/** Groups of the journal in SQL: rows of the audit, chained to those before, and the usage that commits with them. */
import { CompiledQuery, type Insertable, sql } from 'kysely'
import type { ChainedRow, UsageRow } from '../contracts/audit.js'
import { chain, genesis, type Link } from '../journal/chain.js'
import type { Group } from '../journal/queue.js'
import type { Write } from './database.js'
import { createMarker } from './marks.js'
import type { AuditColumns, Database } from './tables.js'

/** Well below the bound on parameters of one statement: 999 in the oldest SQLite builds, 65,535 in PostgreSQL. */
const rowsPerInsert = 80

/** Columns in a fixed order: see `insert`. */
function fromLink({ node, position, at, kind, account, keyId, subject, json, hash }: Link): Insertable<AuditColumns> {
  return { node, position, at, kind, account, keyId, subject, data: json, hash }
}

/** The head of a node's chain; for a new node, its beginning. */
export async function headOf(db: Database, name: string) {
  const first = { node: name, position: 0, hash: genesis, removed: 0, removedHash: genesis }
  await db
    .insertInto('auditHeads')
    .values(first)
    .onConflict((conflict) => conflict.column('node').doNothing())
    .execute()
  return db.selectFrom('auditHeads').selectAll().where('node', '=', name).executeTakeFirstOrThrow()
}

/**
 * Makes a function that stores a group in one transaction, and only once. Serialised: numbers are assigned before the
 * commit, and readers that continue after a number must not miss a lower one. Also, a chain grows at one end, even if
 * the command line writes beside a server of the same name.
 */
export function createGroupStore(write: Write): (group: Group) => Promise<void> {
  /** Statements by number of rows, since building such a text costs more than running it. */
  const inserts: string[] = []

  const mark = createMarker()

  async function insert(db: Database, links: readonly Link[]): Promise<void> {
    const rows = links.map(fromLink)
    inserts[rows.length] ??= db.insertInto('audit').values(rows).returning(['seq', 'position']).compile().sql
    // The parameters are the values row by row: every row names its columns in the same order.
    const insertion = CompiledQuery.raw(inserts[rows.length]!, rows.flatMap(Object.values))
    const stored = await db.executeQuery<Pick<ChainedRow, 'seq' | 'position'>>(insertion)
    const places = new Map(stored.rows.map(({ seq, position }) => [position, seq]))
    await mark(
      db,
      links.map((link) => ({ ...link, seq: places.get(link.position)! }))
    )
  }

  return (group) =>
    write(async (db) => {
      // Stored already: the answer to an earlier commit was lost.
      if (!(await advance(db, group))) return
      const { node, rows, usage } = group
      if (rows.length > 0) {
        const { links, position, hash } = chain(rows, await headOf(db, node))
        for (let i = 0; i < links.length; i += rowsPerInsert) await insert(db, links.slice(i, i + rowsPerInsert))
        await db.updateTable('auditHeads').set({ position, hash }).where('node', '=', node).execute()
      }
      for (let i = 0; i < usage.length; i += rowsPerInsert) await addUsage(db, usage.slice(i, i + rowsPerInsert))
    }, 'audit')
}

/** Records the progress of a journal, in the transaction of its group. @returns whether this group is new */
async function advance(db: Database, { journal, number }: Group): Promise<boolean> {
  const advanced = await db
    .insertInto('journals')
    .values({ journal, number, at: Date.now() })
    .onConflict((conflict) =>
      conflict
        .column('journal')
        .doUpdateSet({ number: (is) => is.ref('excluded.number'), at: (is) => is.ref('excluded.at') })
        .whereRef('journals.number', '<', 'excluded.number')
    )
    .returning('journal')
    .execute()
  return advanced.length > 0
}

async function addUsage(db: Database, rows: readonly UsageRow[]): Promise<void> {
  await db
    .insertInto('usage')
    .values([...rows])
    .onConflict((conflict) =>
      conflict.columns(['account', 'keyId', 'day', 'surface']).doUpdateSet({
        evaluations: sql<number>`usage.evaluations + excluded.evaluations`,
        characters: sql<number>`usage.characters + excluded.characters`
      })
    )
    .execute()
}
