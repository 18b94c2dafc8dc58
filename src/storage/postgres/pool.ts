/** Connections to PostgreSQL that give up in time and are not used again once they failed. */
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import pg from 'pg'

/** Of one process. A server takes 100 in all as it is installed, and requests wait here rather than there. */
const maxConnections = 10
const connectMs = 3_000
/** Beyond what any query here takes: a server that answers no more is a server that is gone. */
const queryMs = 5_000
const int8 = 20

/** @param timeoutMs of one query */
export function openPool(url: string, timeoutMs = queryMs): PostgresPool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'sluicegate',
    max: maxConnections,
    connectionTimeoutMillis: connectMs,
    query_timeout: timeoutMs,
    keepAlive: true,
    types: {
      // Times, counts and sequence numbers: whole numbers that a double holds exactly.
      getTypeParser: ((oid: number, format: 'text' | 'binary') =>
        oid === int8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format as 'text')) as never
    }
  })
  // A connection that breaks while nobody uses it: the pool has let go of it, and the next query opens another.
  pool.on('error', () => {})
  // One that breaks as it is handed out: the server's last words may come in one packet with its readiness, before
  // whoever waits for the connection has been told of it. The first query finds it broken.
  pool.on('connect', (client) => client.on('error', () => {}))
  return { connect: async () => watched(await pool.connect()), end: () => pool.end() }
}

/** A client that is closed instead of handed on where a query failed without a word from the server. */
function watched(client: pg.PoolClient): PostgresPoolClient {
  let broken: Error | undefined
  // Between two queries of a transaction nobody else hears that the connection broke, and an error that nobody hears of
  // ends the process.
  const breaks = (error: Error) => {
    broken ??= error
  }
  client.on('error', breaks)
  const query = async (text: string, values: readonly unknown[]) => {
    // What would follow, a rollback as a rule, waits behind a query that is never answered.
    if (broken !== undefined) throw broken
    try {
      return await client.query(text, values as unknown[])
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) broken = error as Error
      throw error
    }
  }
  const release = () => {
    client.off('error', breaks)
    client.release(broken)
  }
  return { query: query as unknown as PostgresPoolClient['query'], release }
}
