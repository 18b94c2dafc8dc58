/** The common base of the SQL stores: database differences, column names, and transactions. */

import { CamelCasePlugin, type ColumnDefinitionBuilder, type Expression } from 'kysely'
import { Conflict, storageCall } from '../contracts/failure.js'
import type { Database } from './tables.js'

/**
 * Runs work in one transaction. Work that reads first and writes depending on it names a turn: transactions with the
 * same turn run one at a time.
 */
export type Write = <T>(work: (transaction: Database) => Promise<T>, turn?: string) => Promise<T>

/** The database resolves a deadlock at once; a third one in a row is no coincidence. */
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

/** Column types that differ between the databases. */
export interface ColumnTypes {
  /** Compared by its UTF-8 bytes in every locale, since pages and ids rely on one order. */
  text: 'text' | Expression<string>
  bytes: 'blob' | 'bytea'
  /** With `countsUp`, an integer primary key that the database counts up. */
  counter: 'integer' | 'bigserial'
  countsUp(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder
}

export interface SqlDialect {
  columns: ColumnTypes
  /** Whether an error is a violated unique index. */
  isConflict(error: unknown): boolean
  /** Whether the database rolled the transaction back in favour of another one, so that it may be tried again. */
  isVictim(error: unknown): boolean
  /** See `Storage.scrub`. */
  scrub(db: Database): Promise<void>
  /** Before the last connection closes: moves committed data into the database file itself. */
  settle(db: Database): Promise<void>
  /** Blocks other transactions with the same name, in any process, until this one ends. */
  waitTurn(transaction: Database, name: string): Promise<void>
}

/** Plugins of every connection: snake case in the database is camel case here. JSON in a column stays unchanged. */
export const plugins = [new CamelCasePlugin({ maintainNestedObjectKeys: true })]
