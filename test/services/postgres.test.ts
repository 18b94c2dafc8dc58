/** What PostgreSQL has to do as a store: the contracts of every store, and what is its own. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { unbounded } from '../../src/storage/contracts/reviews.js'
import { copyStorage, migrateStorage, openStorage } from '../../src/storage/open.js'
import { openPool } from '../../src/storage/postgres/open.js'
import { checkHands, openWorld, populate } from '../review/hands-suite.js'
import { contractSuites } from '../storage/contract-suites.js'
import { keyRow, reviewRow, t0 } from '../storage/storage-suite.js'
import { createDatabase, emptyDatabase, noPostgres, patient } from '../support/services.js'

t.test('many that start on a new database at once all start, and migrate it once', { skip: noPostgres }, async (t) => {
  const url = await createDatabase(t)
  const done = await Promise.all(Array.from({ length: 4 }, () => migrateStorage(url)))
  t.equal(done.filter((names) => names.length > 0).length, 1)
  t.match(done.flat()[0], '001-keys')
  t.same(await migrateStorage(url), [], 'and never again')
})

t.test(
  'what cannot be opened is named with the reason, and never with the password',
  { skip: noPostgres },
  async (t) => {
    const url = new URL(await createDatabase(t))
    url.password = 'hunter2'
    const absent = new URL(url)
    absent.pathname = '/sluicegate_absent'
    await t.rejects(openStorage({ url: absent.href }), {
      message: /\/sluicegate_absent cannot be opened: .*does not exist/
    })
    await migrateStorage(url.href)
    const client = new pg.Client(url.href)
    await client.connect()
    await client.query(`insert into kysely_migration values ('999-future', '2099-01-01T00:00:00.000Z')`)
    await client.end()
    const error = await openStorage({ url: url.href }).catch((error: Error) => error as Error)
    t.match((error as Error).message, /cannot be opened: .*999-future/)
    t.notMatch(String(error), /hunter2/)
  }
)

t.test('two nodes together store no more reviews than the bounds allow', { skip: noPostgres }, async (t) => {
  const url = await createDatabase(t)
  const nodes = await Promise.all([openStorage({ url, waits: patient }), openStorage({ url, waits: patient })])
  t.teardown(() => Promise.all(nodes.map((node) => node.close())))
  const outcomes = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      nodes[i % 2]!.reviews.open(reviewRow({ digest: `${i}` }), [], { ...unbounded, total: 11, key: 30 })
    )
  )
  t.equal(outcomes.filter(({ created }) => created).length, 11)
  t.equal(outcomes.filter(({ full }) => full === 'total').length, 49)
})

t.test('pages and ids are ordered by bytes, whatever the database’s language', { skip: noPostgres }, async (t) => {
  const storage = await openStorage({ url: await createDatabase(t), waits: patient })
  t.teardown(() => storage.close())
  const names = ['key_B', 'key_a', 'key_Z', 'key_1', 'key_é', 'keyz']
  for (const keyId of names) await storage.keys.insert(keyRow({ keyId, lineage: keyId }))
  t.same(
    (await storage.keys.list('acme', {})).map(({ keyId }) => keyId),
    [...names].sort()
  )
})

t.test('a move from SQLite takes every row along, once, into an empty database', { skip: noPostgres }, async (t) => {
  const from = `sqlite:${join(t.testdir(), 'gate.db')}`
  const to = await createDatabase(t)
  const old = await openStorage({ url: from })
  const rows = Array.from({ length: 250 }, (_, i) =>
    keyRow({ account: `a${i % 3}`, lastUsedAt: i % 2 ? t0 + i : null })
  )
  for (const row of rows) await old.keys.insert(row)
  const review = reviewRow({ sealedNote: new Uint8Array([0, 255, 10]), riskScore: 0.1 + 0.2 })
  await old.reviews.open(review)
  const text = { account: 'acme', name: 'default', declared: '3', digest: 'd', length: 3, origin: 'api' as const }
  await old.constitutions.add({ ...text, note: null, createdAt: t0, createdBy: null, source: 'é\n“”' })
  await old.constitutions.activate({ account: 'acme', name: 'default', to: 3, at: t0, by: null, origin: 'api' })
  for (let i = 0; i < 7; i++)
    old.audit.append({ at: t0, kind: 'test', account: null, keyId: null, subject: null, data: { i, s: '\0"' } })
  await old.audit.flush()

  await t.rejects(copyStorage(`sqlite:${t.testdirName}/none.db`, to), { message: /there is no file/ })
  await t.rejects(copyStorage(to, from), { message: /only sqlite: can be moved/ })
  const copied = await copyStorage(from, to)
  t.match(
    copied.find(({ table }) => table === 'keys'),
    { rows: 250 }
  )

  const moved = await openStorage({ url: to, waits: patient })
  t.teardown(() => Promise.all([old.close(), moved.close()]))
  for (const account of ['a0', 'a1', 'a2']) t.same(await moved.keys.list(account, {}), await old.keys.list(account, {}))
  t.same(await moved.reviews.get('acme', review.reviewId), await old.reviews.get('acme', review.reviewId))
  t.same(await moved.constitutions.get('acme', 'default', 3), await old.constitutions.get('acme', 'default', 3))
  t.same(await moved.constitutions.states('acme'), await old.constitutions.states('acme'))
  t.same(await moved.audit.read({ limit: 99 }), await old.audit.read({ limit: 99 }))
  moved.audit.append({ at: t0, kind: 'after', account: null, keyId: null, subject: null, data: {} })
  await moved.audit.flush()
  t.equal((await moved.audit.read({ after: 7, limit: 9 })).length, 1, 'numbers go on')
  await t.rejects(copyStorage(from, to), { message: /must be empty/ })
  t.equal((await moved.keys.list('a0', {})).length, 84, 'and nothing was done')
})

t.test('a connection that is ended in the same packet that makes it ready ends no process', async (t) => {
  const message = (type: string, body: string) => {
    const bytes = Buffer.alloc(5 + body.length)
    bytes.write(type, 'latin1')
    bytes.writeInt32BE(4 + body.length, 1)
    bytes.write(body, 5, 'latin1')
    return bytes
  }
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      const ready = [message('R', '\0\0\0\0'), message('Z', 'I')]
      const ended = message('E', 'SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')
      socket.end(Buffer.concat([...ready, ended]))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const pool = openPool(`postgres://u@127.0.0.1:${(server.address() as AddressInfo).port}/d`)
  const client = await pool.connect()
  await t.rejects(client.query('select 1', []))
  client.release()
  await pool.end()
})

t.test('the contracts of a store', { skip: noPostgres }, async (t) => {
  const url = await createDatabase(t)
  contractSuites(t, async () => {
    await emptyDatabase(url)
    return url
  })
})

t.test('whoever could hold the secrets of one hand completes no decision of two', { skip: noPostgres }, async (t) => {
  const world = await openWorld(t, await openStorage({ url: await createDatabase(t), waits: patient }))
  await checkHands(t, world, await populate(world), 53)
})
