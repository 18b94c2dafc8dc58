/** What the stores in SQL need to know of a database beyond what Kysely knows. */
import type { ColumnDefinitionBuilder, Expression } from 'kysely'
import type { Database } from './tables.js'

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
  /** Holds off every other transaction that asks for the same name, in any process, until this one ends. */
  waitTurn(transaction: Database, name: string): Promise<void>
}
