/** Writing, the same for every store in SQL. */
import { Conflict, storageCall } from '../contracts/failure.js'
import type { SqlDialect } from './dialect.js'
import type { Database } from './tables.js'

/**
 * Runs work in one transaction: all of it is stored, or nothing. Work that reads first and writes by what it read names
 * its turn: of transactions with one name, one runs at a time.
 */
export type Write = <T>(work: (transaction: Database) => Promise<T>, turn?: string) => Promise<T>

/** Two that wait for each other's rows are told apart by the database at once; a third meeting is no accident. */
const attempts = 3

export function createWrite(db: Database, dialect: SqlDialect): Write {
  return (work, turn) =>
    storageCall(async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await db.transaction().execute(async (transaction) => {
            if (turn !== undefined) await dialect.waitTurn(transaction, turn)
            return work(transaction)
          })
        } catch (error) {
          if (dialect.isConflict(error)) throw new Conflict('a unique value is taken', { cause: error })
          if (!dialect.isVictim(error) || attempt === attempts) throw error
        }
      }
    })
}
