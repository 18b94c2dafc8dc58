/** Audit and usage that the storage does not take: on the disk, in order, once, and never lost without a word. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import type { AuditRow } from '../../src/storage/contracts/index.js'
import { createJournal } from '../../src/storage/journal/journal.js'
import type { Group } from '../../src/storage/journal/queue.js'
import { adopt, createSpool } from '../../src/storage/journal/spool.js'
import { openStorage } from '../../src/storage/open.js'
import { createSqlAudit } from '../../src/storage/sql/audit.js'
import { createWrite } from '../../src/storage/sql/database.js'
import { connectSqlite, sqlite } from '../../src/storage/sqlite/open.js'
import { tempDir } from '../support/gateway.js'
import { msUntil } from '../support/node.js'

const row = (i: number): AuditRow => ({ at: i, kind: 'test', account: 'a', keyId: null, subject: null, data: { i } })
const use = {
  account: 'a',
  keyId: 'k',
  environment: 'live',
  surface: 'chat',
  at: 0,
  evaluations: 1,
  characters: 5
} as const
const numbers = (groups: readonly Group[]) => groups.flatMap(({ rows }) => rows.map(({ data }) => data['i']))

/** Takes groups, or does not. */
function fickle() {
  const taken: Group[] = []
  const store = {
    isUp: true,
    taken,
    async store(group: Group) {
      if (!store.isUp) throw new Error('it is away')
      taken.push(group)
    }
  }
  return store
}

function open(t: Test, maxBytes = 64 * 1024 * 1024) {
  const folder = tempDir(t)
  const there = fickle()
  const logged: string[] = []
  const log = { error: (_: object, message: string) => logged.push(message) }
  const spool = { folder, maxBytes }
  const journal = createJournal({ node: 'n', store: there.store, spool, log })
  return {
    folder,
    spool,
    there,
    journal,
    logged,
    files: () => readdirSync(folder).filter((name) => name.endsWith('.spool'))
  }
}

t.test('what waits is on the disk within a moment, and is stored in order with what came meanwhile', async (t) => {
  const { folder, there, journal, files } = open(t)
  there.isUp = false
  for (let i = 0; i < 300; i++) journal.append(row(i))
  journal.usage.add(use)
  await t.rejects(journal.flush())
  t.equal(files().length, 1)
  t.equal(statSync(join(folder, files()[0]!)).mode & 0o777, 0o600)
  for (let i = 300; i < 600; i++) journal.append(row(i))
  await t.rejects(journal.commit(row(600)), 'who waits is told')
  t.equal(journal.waiting, 601)
  there.isUp = true
  await journal.commit(row(601))
  await journal.flush()
  t.same(
    numbers(there.taken),
    Array.from({ length: 602 }, (_, i) => i)
  )
  t.match(
    there.taken.flatMap(({ usage }) => usage),
    [{ keyId: 'k', evaluations: 1, characters: 5, day: '1970-01-01' }]
  )
  const order = there.taken.map(({ number }) => number)
  t.same(
    order,
    [...order].sort((a, b) => a - b)
  )
  t.equal(await journal.close(), true)
  t.same(readdirSync(folder), [], 'nothing is left behind')
})

t.test('an outage is told when it begins, not with each try, and again when the next begins', async (t) => {
  const { there, journal, logged } = open(t)
  const waits = () => logged.filter((line) => /the storage does not take them/.test(line)).length
  for (let outage = 1; outage <= 2; outage++) {
    there.isUp = false
    for (let i = 0; i < 3; i++) await t.rejects(journal.commit(row(i)))
    t.equal(waits(), outage)
    there.isUp = true
    await journal.flush()
  }
  t.equal(await journal.close(), true)
})

t.test('a spool that cannot be made leaves no file, however often it is tried', async (t) => {
  // Longer than the longest path of SQLite, which is well below that of a file system.
  const folder = join(tempDir(t), 'a'.repeat(250), 'b'.repeat(250))
  mkdirSync(folder, { recursive: true })
  for (let i = 0; i < 3; i++) t.throws(() => createSpool({ folder, maxBytes: 1_000_000 }))
  t.same(readdirSync(folder), [])
})

t.test('a process that ends while the storage is away leaves all to the next, and not a second time', async (t) => {
  const { spool, there, journal, files, logged } = open(t)
  journal.append(row(0))
  await journal.flush()
  there.isUp = false
  for (let i = 1; i < 400; i++) journal.append(row(i))
  const nobody = async () => {
    t.fail('it belongs to a process that lives')
  }
  await t.rejects(journal.flush())
  t.equal(await adopt(spool, nobody, async () => {}), 0)
  t.equal(await journal.close(), false)
  t.match(logged.at(-1), /left in the spool/)
  t.equal(files().length, 1)
  let forgotten: string | undefined
  const rows = await adopt(
    spool,
    async (group) => void there.taken.push(group),
    async (id) => {
      forgotten = id
    }
  )
  t.equal(rows, 399)
  t.same(
    numbers(there.taken),
    Array.from({ length: 400 }, (_, i) => i)
  )
  t.equal(forgotten, journal.id)
  t.same(files(), [])
})

t.test('a group whose answer was lost is stored once', async (t) => {
  const { db } = await connectSqlite(join(tempDir(t), 'gate.db'))
  const write = createWrite(db, sqlite)
  const { store, audit, usage, forget, close } = createSqlAudit(db, write, { node: 'n' })
  t.teardown(async () => close().then(() => db.destroy()))
  const { at: _, ...used } = use
  const group = {
    journal: 'j',
    number: 7,
    node: 'gone',
    rows: [row(1), row(2)],
    usage: [{ ...used, day: '2026-01-01' }]
  }
  await store(group)
  await store(group)
  await store({ ...group, number: 6 })
  t.match(await audit.read({ limit: 9 }), [
    { node: 'gone', data: { i: 1 } },
    { node: 'gone', data: { i: 2 } }
  ])
  t.match(await usage.read('a', { from: '2026-01-01', to: '2026-01-01' }), [{ evaluations: 1 }])
  await store({ ...group, number: 8, rows: [row(3)], usage: [] })
  t.equal((await audit.read({ limit: 9 })).length, 3)
  t.equal((await db.selectFrom('journals').selectAll().execute()).length, 1)
  await forget('j')
  t.same(await db.selectFrom('journals').selectAll().execute(), [])
})

t.test('a full spool: the rest waits in memory, in order, and room is found again', async (t) => {
  const { there, journal, logged } = open(t, 1024 * 1024)
  there.isUp = false
  const large = (i: number) => ({ ...row(i), data: { i, x: 'x'.repeat(2000) } })
  for (let i = 0; i < 1000; i++) journal.append(large(i))
  await t.rejects(journal.flush())
  t.match(logged, [/wait in memory/])
  for (let i = 1000; i < 1500; i++) journal.append(large(i))
  await t.rejects(journal.flush())
  there.isUp = true
  do await journal.flush()
  while (journal.waiting > 0)
  t.same(
    numbers(there.taken),
    Array.from({ length: 1500 }, (_, i) => i)
  )
  t.equal(journal.dropped, 0)
  await journal.close()
})

t.test('what does not fit into memory either is told of in the audit itself', async (t) => {
  const there = fickle()
  const logged: object[] = []
  const journal = createJournal({ node: 'n', store: there.store, log: { error: (details) => logged.push(details) } })
  there.isUp = false
  for (let i = 0; i < 125_000; i++) journal.append(row(i))
  await t.rejects(journal.flush())
  t.ok(journal.dropped > 0)
  there.isUp = true
  do await journal.flush()
  while (journal.waiting > 0)
  const rows = there.taken.flatMap(({ rows }) => rows)
  const [first, ...rest] = rows
  t.match(first, {
    kind: 'audit.lost',
    subject: 'n',
    data: { rows: journal.dropped, from: 0, to: journal.dropped - 1 }
  })
  t.equal(rest.length, 125_000 - journal.dropped)
  t.equal(rest[0]!.data['i'], journal.dropped)
  t.match(logged.at(-1), { rows: journal.dropped })
  await journal.close()
})

t.test('a store that hangs: what waits is on the disk meanwhile', async (t) => {
  const { there, journal, files } = open(t)
  let answer = () => {}
  const hanging = new Promise<void>((resolve) => {
    answer = resolve
  })
  const { store } = there
  const hung = createJournal({
    node: 'n',
    store: async (group) => {
      await hanging
      return store(group)
    },
    spool: { folder: tempDir(t), maxBytes: 1 << 20 }
  })
  await journal.close()
  hung.append(row(0))
  await setTimeout(300)
  hung.append(row(1))
  t.ok(Number.isFinite(await msUntil(async () => hung.waiting === 2, 5000)))
  await setTimeout(900)
  answer()
  await hung.flush()
  t.same(numbers(there.taken), [0, 1])
  t.same(files(), [])
  await hung.close()
})

t.test('kill -9 while the storage is away: nothing that was on the disk is lost', async (t) => {
  const folder = tempDir(t)
  const program = `
    import { createJournal } from ${JSON.stringify(fileURLToPath(new URL('../../dist/storage/journal/journal.js', import.meta.url)))}
    const journal = createJournal({ node: 'n', store: async () => { throw new Error('away') }, spool: { folder: ${JSON.stringify(folder)}, maxBytes: 1e8 } })
    for (let i = 0; i < 500; i++) journal.append({ at: i, kind: 'test', account: null, keyId: null, subject: null, data: { i } })
    await journal.flush().catch(() => {})
    process.kill(process.pid, 'SIGKILL')`
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', program])
  t.equal(signal, 'SIGKILL')
  const url = `sqlite:${join(tempDir(t), 'gate.db')}`
  for (const node of ['n', 'other']) {
    const storage = await openStorage({ url, node, spool: { folder, maxBytes: 1e8 } })
    const rows = await storage.audit.read({ limit: 999 })
    t.same(
      rows.map(({ data }) => data['i']),
      Array.from({ length: 500 }, (_, i) => i)
    )
    t.ok(
      rows.every(({ node }) => node === 'n'),
      'in its own chain'
    )
    await storage.close()
  }
  t.same(readdirSync(folder), [])
})

t.test('a folder that cannot be written: said at the start, and the rest goes on', async (t) => {
  const logged: string[] = []
  const folder = tempDir(t)
  writeFileSync(join(folder, 'file'), '')
  const storage = await openStorage({
    url: `sqlite:${join(folder, 'gate.db')}`,
    spool: { folder: join(folder, 'file', 'spool'), maxBytes: 1e8 },
    log: { error: (_, message) => logged.push(message) }
  })
  t.teardown(() => storage.close())
  storage.audit.append(row(1))
  await storage.audit.flush()
  t.match(logged, [/there is no spool/])
})
