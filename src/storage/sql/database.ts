/** What the stores in SQL share: the differences of the databases, the names of columns, and transactions. */

import { CamelCasePlugin, type ColumnDefinitionBuilder, type Expression } from 'kysely'
import { Conflict, storageCall } from '../contracts/failure.js'
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

/** The column types that have no common name. */
export interface ColumnTypes {
  /** Compared and ordered by its bytes in UTF-8, wherever the database stands: pages and ids rely on one order. */
  text: 'text' | Expression<string>
  bytes: 'blob' | 'bytea'
  /** With `countsUp`, an integer primary key that the database counts up. */
  counter: 'integer' | 'bigserial'
  countsUp(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder
}

export interface SqlDialect {
  columns: ColumnTypes
  /** Tells a violated unique index from every other error of the driver. */
  isConflict(error: unknown): boolean
  /** Tells a transaction that the database rolled back for the sake of another one: it may be tried again. */
  isVictim(error: unknown): boolean
  /** See `Storage.scrub`. */
  scrub(db: Database): Promise<void>
  /** Before the last connection ends: what is committed stands in the database itself. */
  settle(db: Database): Promise<void>
  /** Holds off every other transaction that asks for the same name, in any process, until this one ends. */
  waitTurn(transaction: Database, name: string): Promise<void>
}

/** Of every connection: what has snake case in the database has camel case here. JSON in a column stays as it is. */
export const plugins = [new CamelCasePlugin({ maintainNestedObjectKeys: true })]
