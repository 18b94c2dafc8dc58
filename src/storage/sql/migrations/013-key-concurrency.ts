import type { Kysely, Migration } from 'kysely'

/** How many requests of a key may be under way at once. Null: what the configuration says. */
export const keyConcurrency = (): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('keys').addColumn('max_concurrent', 'integer').execute()
  }
})
