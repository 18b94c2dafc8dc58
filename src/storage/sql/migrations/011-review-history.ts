import type { Kysely, Migration } from 'kysely'
import type { ColumnTypes } from '../dialect.js'

/** The turns of the session before a review, sealed like its text. */
export const reviewHistory = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('reviews').addColumn('sealed_history', types.bytes).execute()
  }
})
