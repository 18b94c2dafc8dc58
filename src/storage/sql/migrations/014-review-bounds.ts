import { type Kysely, type Migration, sql } from 'kysely'
import type { ColumnTypes } from '../dialect.js'

/**
 * How much waits for a decision: counted in indexes of what is open alone, and never by reading a text. By account that is
 * `reviews_by_expiry` of the indexes after it.
 */
export const reviewBounds = (_types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('reviews')
      .addColumn('bytes', 'bigint', (c) => c.notNull().defaultTo(0))
      .execute()
    // Of what is over, nobody asks any more; and to write a row is to write its texts.
    await sql`
      update reviews set bytes = octet_length(sealed_request)
        + coalesce(octet_length(sealed_context), 0) + coalesce(octet_length(sealed_history), 0)
      where state = 'pending' and expires_at > ${Date.now()}
    `.execute(db)
    for (const [name, columns] of [
      ['reviews_open', ['state', 'expires_at', 'bytes']],
      ['reviews_open_by_lineage', ['lineage', 'account', 'expires_at']]
    ] as const) {
      await db.schema
        .createIndex(name)
        .on('reviews')
        .columns([...columns])
        .where(sql.ref('state'), '=', sql.lit('pending'))
        .execute()
    }
  }
})
