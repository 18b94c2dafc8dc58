/** Pinned definitions of MCP servers in SQL. */
import { storageCall } from '../contracts/failure.js'
import type { PinRow, PinStore } from '../contracts/pins.js'
import type { Write } from './database.js'
import type { Database, PinColumns } from './tables.js'

const fromPin = ({ isPermitted, ...same }: PinRow): PinColumns => ({ ...same, isPermitted: isPermitted ? 1 : 0 })
const toPin = ({ isPermitted, ...same }: PinColumns): PinRow => ({ ...same, isPermitted: isPermitted !== 0 })

export function createSqlPins(db: Database, write: Write): PinStore {
  const find = async (db: Database, pinIds: readonly string[]) => {
    if (pinIds.length === 0) return []
    const rows = await db
      .selectFrom('pins')
      .selectAll()
      .where('pinId', 'in', [...pinIds])
      .execute()
    return rows.map(toPin)
  }
  return {
    find: (pinIds) => storageCall(() => find(db, pinIds)),

    toolNames: (account, limit) =>
      storageCall(() =>
        db
          .selectFrom('pins')
          .select(['server', 'name'])
          .where('account', '=', account)
          .where('kind', '=', 'tool')
          .orderBy('server')
          .orderBy('name')
          .limit(limit)
          .execute()
      ),

    add: (rows, most) =>
      write(async (db) => {
        const ids = rows.map(({ pinId }) => pinId)
        const kept = new Set((await find(db, ids)).map(({ pinId }) => pinId))
        const rooms = new Map<string, number>()
        for (const row of rows) {
          if (kept.has(row.pinId)) continue
          const { account, server } = row
          const at = `${account}/${server}`
          let room = rooms.get(at)
          if (room === undefined) {
            const { count } = await db
              .selectFrom('pins')
              .select(({ fn }) => fn.countAll<number | string>().as('count'))
              .where('account', '=', account)
              .where('server', '=', server)
              .executeTakeFirstOrThrow()
            room = most - Number(count)
          }
          if (room > 0) await db.insertInto('pins').values(fromPin(row)).execute()
          rooms.set(at, room - 1)
          kept.add(row.pinId)
        }
        return find(db, ids)
      }, `pins ${rows[0]?.account} ${rows[0]?.server}`),

    replace: (row, { digest, pendingDigest }) =>
      write(async (db) => {
        const { pinId, ...rest } = fromPin(row)
        const { numUpdatedRows } = await db
          .updateTable('pins')
          .set(rest)
          .where('pinId', '=', pinId)
          .where('digest', '=', digest)
          .where('pendingDigest', pendingDigest === null ? 'is' : '=', pendingDigest)
          .executeTakeFirst()
        return numUpdatedRows === 1n
      })
  }
}
