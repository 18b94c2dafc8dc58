/** A storage that answers reads and refuses writes, as on a full disk: named, told by `ping`, and over by itself. */
import { DatabaseSync } from '@photostructure/sqlite'
import { Kysely } from 'kysely'
import t, { type Test } from 'tap'
import { plugins } from '../../src/storage/sql/database.js'
import { migrate } from '../../src/storage/sql/migrations/index.js'
import { createSqlStorage } from '../../src/storage/sql/storage.js'
import type { Tables } from '../../src/storage/sql/tables.js'
import { embeddedDialect } from '../../src/storage/sqlite/dialect.js'
import { sqlite } from '../../src/storage/sqlite/open.js'
import { keyRow } from './storage-suite.js'

const cause = 'database or disk is full'
const tables = ['keys', 'processes'] as const

/** SQLite ends the whole transaction by itself where there is no room; `raise(rollback)` does the same. */
async function open(t: Test) {
  const connection = new DatabaseSync(':memory:')
  const db = new Kysely<Tables>({ dialect: embeddedDialect(connection), plugins })
  await migrate(db, sqlite.columns)
  const logged: string[] = []
  const log = {
    error: (_: object, message: string) => logged.push(message),
    info: (_: object, message: string) => logged.push(message)
  }
  const storage = await createSqlStorage(db, sqlite, { node: 'n', log })
  t.teardown(() => storage.close())
  return {
    storage,
    logged,
    fill() {
      for (const table of tables)
        connection.exec(
          `create trigger full_${table} before insert on ${table} begin select raise(rollback, '${cause}'); end`
        )
    },
    free() {
      for (const table of tables) connection.exec(`drop trigger full_${table}`)
    }
  }
}

t.test('the error names why the storage takes no writes', async (t) => {
  const { storage, fill } = await open(t)
  fill()
  await t.rejects(storage.keys.insert(keyRow()), { code: 'storage_unavailable', internal: cause })
})

t.test('it does not answer as well while it takes no writes, and does again by itself', async (t) => {
  const { storage, logged, fill, free } = await open(t)
  fill()
  await storage.ping()
  t.same(logged, [], 'no write has failed yet')
  await t.rejects(storage.keys.insert(keyRow()))
  await t.rejects(storage.ping(), { code: 'storage_unavailable', internal: cause })
  await t.rejects(Promise.all([storage.ping(), storage.ping()]), { code: 'storage_unavailable' })
  t.equal(logged.length, 1, 'told once')
  free()
  await storage.ping()
  t.match(logged[1], /takes writes again/)
  t.same(await storage.processes.list(0), [], 'the trial leaves nothing')
})

t.test('a write that cannot be made for its own sake is no failing storage', async (t) => {
  const { storage, logged } = await open(t)
  const row = keyRow()
  await storage.keys.insert(row)
  await t.rejects(storage.keys.insert(row))
  await t.rejects(storage.keys.insert(keyRow({ name: 'a\0b' })))
  await storage.ping()
  t.same(logged, [])
})
