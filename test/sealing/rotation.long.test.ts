import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { openKeyring } from '../../src/sealing/keyring.js'
import { retireDataKey, rotateDataKey } from '../../src/sealing/rotation.js'
import { createSeal, keyIdOf, sealedBy, sealedFor } from '../../src/sealing/seal.js'
import type { Storage } from '../../src/storage/contracts/index.js'
import { openStorage } from '../../src/storage/open.js'
import { sealedColumns } from '../../src/storage/sql/data-keys.js'
import { migrate } from '../../src/storage/sql/migrations/index.js'
import { connectSqlite, sqlite } from '../../src/storage/sqlite/open.js'
import { sampleRow } from '../storage/samples-suite.js'
import { reviewRow, t0 } from '../storage/storage-suite.js'
import { createDatabase, emptyDatabase, noPostgres } from '../support/services.js'

const now = () => t0
const stores: [string, (t: Test) => Promise<string>, string | false][] = [
  ['sqlite', async (t) => `sqlite:${join(t.testdir(), 'gate.db')}`, false],
  ['postgres', async (t) => createDatabase(t), noPostgres]
]

/** A process of a node: its keyring, and what it says of itself in the store. */
async function node(t: Test, storage: Storage, name: string, key: Buffer) {
  const tell = () =>
    storage.processes.tell({
      process: name,
      node: name,
      startedAt: t0,
      seenAt: t0,
      facts: { pid: 1, dataKeys: keyring.facts() }
    })
  const keyring = await openKeyring({
    store: storage.dataKeys,
    key,
    source: 'the test',
    now: t0,
    changed: () => void tell()
  })
  t.teardown(() => keyring.close())
  await tell()
  return keyring
}

for (const [name, newUrl, skip] of stores) {
  t.test(
    `${name}: a rotation beside two nodes: both read and seal all the while, and the old key opens nothing after it`,
    { skip },
    async (t) => {
      const url = await newUrl(t)
      if (url.startsWith('postgres')) await emptyDatabase(url)
      const storage = await openStorage({ url })
      t.teardown(() => storage.close())
      const [old, next, stranger] = [randomBytes(32), randomBytes(32), randomBytes(32)]
      const a = await node(t, storage, 'a', old)
      const b = await node(t, storage, 'b', old)
      const ids: string[] = []
      const samples: string[] = []
      for (let i = 0; i < 45; i++) {
        const { reviewId, ...row } = reviewRow({ digest: String(i), expiresAt: t0 + 1e9 })
        const sealed = (field: string) => a.seal.seal(Buffer.from(`${field} of ${i}`), sealedFor(reviewId, field))
        await storage.reviews.open({
          ...row,
          reviewId,
          sealedRequest: sealed('request'),
          sealedContext: sealed('context'),
          sealedHistory: sealed('history'),
          sealedNote: sealed('note'),
          sealedApprovalNote: sealed('approval_note')
        })
        ids.push(reviewId)
        const { sampleId, ...sample } = sampleRow()
        const sealedText = a.seal.seal(Buffer.from(`sample ${i}`), sealedFor(sampleId, 'text'))
        await storage.samples.add([{ ...sample, sampleId, sealedText }], { rows: 100, bytes: 1e9 })
        samples.push(sampleId)
      }
      const read = async (keyring: typeof a, i: number) => {
        const row = await storage.reviews.get('acme', ids[i]!)
        return keyring.seal.open(row!.sealedNote!, sealedFor(ids[i]!, 'note')).toString()
      }
      let reads = 0
      let isOver = false
      const reading = (async () => {
        for (let i = 0; !isOver; i = (i + 1) % ids.length, reads++) {
          for (const keyring of [a, b]) if ((await read(keyring, i)) !== `note of ${i}`) t.fail(`the note of ${i}`)
          await setTimeout(5)
        }
      })()

      const keyring = await openKeyring({ store: storage.dataKeys, key: old, source: 'the test', now: t0 })
      const deps = { store: storage.dataKeys, processes: storage.processes, keyring, now, tell() {} }
      t.teardown(() => keyring.close())
      const done = await rotateDataKey(next, deps)
      t.match(done, { from: keyIdOf(old), to: keyIdOf(next), texts: 45 * 6 })
      isOver = true
      await reading
      t.ok(reads > 0)
      t.match([a.facts(), b.facts()], [{ current: keyIdOf(next) }, { current: keyIdOf(next) }])
      t.equal(await storage.dataKeys.count(sealedBy(keyIdOf(old))), 0)
      t.equal(await storage.dataKeys.count(sealedBy(keyIdOf(next))), 45 * 6)

      await t.rejects(rotateDataKey(stranger, deps), /retire/, 'one rotation at a time')
      await t.rejects(retireDataKey(deps), /a \(pid 1\), b \(pid 1\)/, 'both were started with the old key')
      const restarted = await node(t, storage, 'a', next)
      await node(t, storage, 'b', next)
      t.same(restarted.secrets, a.secrets, 'what exceptions are found by stays')
      t.equal(await retireDataKey(deps), keyIdOf(old))
      t.equal(await read(restarted, 44), 'note of 44')
      const { sealedText } = (await storage.samples.get('acme', samples[44]!))!
      t.equal(restarted.seal.open(sealedText, sealedFor(samples[44]!, 'text')).toString(), 'sample 44')
      for (const key of [old, stranger]) {
        await t.rejects(openKeyring({ store: storage.dataKeys, key, source: 'the test', now: t0 }), {
          name: 'WrongDataKey',
          message: new RegExp(
            `the test holds the key ${keyIdOf(key)}, and the store is sealed with the key ${keyIdOf(next)}`
          )
        })
      }
    }
  )
}

t.test('a rotation that broke off goes on; a process of a version before stops it', async (t) => {
  const storage = await openStorage({ url: 'memory:' })
  t.teardown(() => storage.close())
  const [old, next] = [randomBytes(32), randomBytes(32)]
  await storage.processes.tell({ process: 'p', node: 'before', startedAt: t0, seenAt: t0, facts: { pid: 7 } })
  const keyring = await openKeyring({ store: storage.dataKeys, key: old, source: 'the test', now: t0 })
  t.teardown(() => keyring.close())
  const deps = { store: storage.dataKeys, processes: storage.processes, keyring, now, tell() {} }
  await t.rejects(rotateDataKey(next, deps), /before \(pid 7\)/)
  t.same((await storage.dataKeys.list()).map(({ state }) => state).sort(), ['coming', 'current'])
  t.equal(keyring.facts().current, keyIdOf(old))
  await t.rejects(rotateDataKey(randomBytes(32), deps), /is under way/)
  await storage.processes.remove('p')
  t.match(await rotateDataKey(next, deps), { to: keyIdOf(next), texts: 0 })
})

t.test(
  'a store of a version before this one refuses a key that does not open its texts, and takes its own',
  async (t) => {
    const path = join(t.testdir(), 'gate.db')
    const { db } = await connectSqlite(path)
    await migrate(db, sqlite.columns)
    await db.destroy()
    const storage = await openStorage({ url: `sqlite:${path}` })
    t.teardown(() => storage.close())
    const own = randomBytes(32)
    await storage.reviews.open(reviewRow({ sealedRequest: createSeal(own).seal(Buffer.from('x'), 'rev:request') }))
    const open = (key: Buffer) => openKeyring({ store: storage.dataKeys, key, source: 'the test', now: t0 })
    await t.rejects(open(randomBytes(32)), { name: 'WrongDataKey' })
    t.same(await storage.dataKeys.list(), [])
    const keyring = await open(own)
    keyring.close()
    t.equal(keyring.facts().current, keyIdOf(own))
  }
)

t.test('every column of sealed texts is sealed anew', async (t) => {
  const { db } = await connectSqlite(join(t.testdir(), 'gate.db'))
  t.teardown(() => db.destroy())
  const { rows } = await sql<{ place: string }>`
    select m.name || '.' || c.name as place from sqlite_master m join pragma_table_info(m.name) c
    where m.type = 'table' and c.name like 'sealed%' and m.name <> 'data_keys'
  `.execute(db)
  t.same(rows.map(({ place }) => place).sort(), sealedColumns.map(({ table, column }) => `${table}.${column}`).sort())
})
