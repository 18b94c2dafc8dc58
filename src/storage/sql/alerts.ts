/** The store of alerts in SQL, with the election of the watching process. */
import type { AlertRow, AlertStore } from '../contracts/alerts.js'
import { storageCall } from '../contracts/failure.js'
import type { Write } from './database.js'
import { fromDelivery } from './deliveries.js'
import type { AlertColumns, Database } from './tables.js'

/** The only row of its table. */
const watchId = 1
const turn = 'alerts'

export function createSqlAlerts(db: Database, write: Write): AlertStore {
  const watching = (db: Database) =>
    db.selectFrom('alertWatch').selectAll().where('watchId', '=', watchId).executeTakeFirst()

  return {
    async watch({ by, now, forMs }) {
      // Called often, so it takes no lock without a change. The watching process renews after half of its time.
      const standing = await storageCall(() => watching(db))
      const left = (standing?.until ?? 0) - now
      // A longer lease than any request can only come from a wrong clock.
      if (standing !== undefined && left > 0 && left <= 2 * forMs) {
        if (standing.holder !== by) return false
        if (left > forMs / 2) return true
      }
      return write(async (db) => {
        const other = await watching(db)
        const left = (other?.until ?? 0) - now
        if (other !== undefined && other.holder !== by && left > 0 && left <= 2 * forMs) return false
        const said = { holder: by, until: now + forMs }
        await db
          .insertInto('alertWatch')
          .values({ watchId, ...said })
          .onConflict((conflict) => conflict.column('watchId').doUpdateSet(said))
          .execute()
        return true
      }, turn)
    },

    list: () =>
      storageCall(async () => {
        const rows = await db.selectFrom('alerts').selectAll().execute()
        return rows.map(toAlert).sort((a, b) => a.since - b.since || (a.alertId < b.alertId ? -1 : 1))
      }),

    put: ({ by, rows, removed, notices }) =>
      write(async (db) => {
        if ((await watching(db))?.holder !== by) return false
        if (removed.length > 0) await db.deleteFrom('alerts').where('alertId', 'in', removed).execute()
        for (const row of rows) {
          const { kind, subject, ...rest } = fromAlert(row)
          await db
            .insertInto('alerts')
            .values({ kind, subject, ...rest })
            .onConflict((conflict) => conflict.columns(['kind', 'subject']).doUpdateSet(rest))
            .execute()
        }
        if (notices.length > 0) await db.insertInto('deliveries').values(notices.map(fromDelivery)).execute()
        return true
      }, turn)
  }
}

function fromAlert(row: AlertRow): AlertColumns {
  return { ...row, facts: JSON.stringify(row.facts), holds: row.holds ? 1 : 0 }
}

function toAlert(row: AlertColumns): AlertRow {
  return { ...row, facts: JSON.parse(row.facts), holds: row.holds === 1 }
}
