import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import t from 'tap'
import { backupStorage, isStorageInUse, openStorage, restoreStorage } from '../../src/storage/open.js'
import { sampleRow } from './samples-suite.js'
import { keyRow, t0 } from './storage-suite.js'

const rowsOf = (checked: { tables: { table: string; rows: number }[] }, name: string) =>
  checked.tables.find(({ table }) => table === name)?.rows

t.test('after a clean stop a copy of the file alone holds all', async (t) => {
  const path = join(t.testdir(), 'gate.db')
  const storage = await openStorage({ url: `sqlite:${path}` })
  await storage.keys.insert(keyRow())
  storage.audit.append({ at: t0, kind: 'test', account: 'acme', keyId: null, subject: null, data: {} })
  await storage.close()
  copyFileSync(path, `${path}.copy`)
  const copy = new DatabaseSync(`${path}.copy`, { readOnly: true })
  t.match(copy.prepare('select (select count(*) from keys) as keys, (select count(*) from audit) as audit').get(), {
    keys: 1,
    audit: 1
  })
  copy.close()
})

t.test('a backup beside writers is of one moment, one file, and can be put back', async (t) => {
  const dir = t.testdir()
  const url = `sqlite:${join(dir, 'gate.db')}`
  const file = join(dir, 'backup.db')
  const storage = await openStorage({ url })
  t.teardown(() => storage.close())
  for (let i = 0; i < 50; i++) await storage.keys.insert(keyRow())
  await storage.processes.tell({ process: 'p', node: 'n', startedAt: t0, seenAt: t0, facts: {} })
  let isOver = false
  const writing = (async () => {
    for (; !isOver; await setImmediate()) await storage.keys.insert(keyRow())
  })()
  const made = await backupStorage(url, file)
  isOver = true
  await writing
  t.ok(rowsOf(made, 'keys')! >= 50)
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.same(
    readdirSync(dir).filter((name) => name.startsWith('backup')),
    ['backup.db']
  )
  await t.rejects(backupStorage(url, file), /is there already/)

  t.equal(isStorageInUse(url), true)
  const before = readFileSync(join(dir, 'gate.db'))
  await t.rejects(restoreStorage(url, file, true), /is in use/)
  t.ok(readFileSync(join(dir, 'gate.db')).equals(before), 'nothing was touched')

  const elsewhere = `sqlite:${join(dir, 'new', 'gate.db')}`
  const { checked, aside } = await restoreStorage(elsewhere, file, false)
  t.equal(aside, undefined)
  t.same(checked.tables, made.tables)
  t.same(readdirSync(join(dir, 'new')), ['gate.db'])
  const restored = await openStorage({ url: elsewhere })
  t.teardown(() => restored.close())
  t.equal((await restored.keys.list('acme', {})).length, rowsOf(made, 'keys'))
  t.same(await restored.processes.list(0), [], 'what stands for a moment is not brought back')
})

t.test('what is damaged, newer or no store is refused, and leaves nothing behind', async (t) => {
  const dir = t.testdir({ text: 'no database at all, but a text that is long enough to be looked at'.repeat(20) })
  const url = `sqlite:${join(dir, 'gate.db')}`
  const file = join(dir, 'backup.db')
  const storage = await openStorage({ url })
  for (let i = 0; i < 300; i++) await storage.keys.insert(keyRow())
  await backupStorage(url, file)
  await storage.close()
  const target = `sqlite:${join(dir, 'target.db')}`

  copyFileSync(file, `${file}.short`)
  truncateSync(`${file}.short`, Math.floor(statSync(file).size / 2 / 4096) * 4096)
  const bytes = readFileSync(file)
  bytes.fill(0xff, 40_960, 45_056)
  writeFileSync(`${file}.flipped`, bytes)
  copyFileSync(file, `${file}.newer`)
  const newer = new DatabaseSync(`${file}.newer`)
  newer.exec("insert into kysely_migration (name, timestamp) values ('999-later', '2030')")
  newer.close()
  for (const [name, reason] of [
    [`${file}.short`, /damaged/],
    [`${file}.flipped`, /damaged/],
    [`${file}.newer`, /newer version/],
    [join(dir, 'text'), /damaged, or no database/]
  ] as const) {
    await t.rejects(restoreStorage(target, name, false), reason, name)
    t.notOk(existsSync(join(dir, 'target.db')), name)
  }
})

t.test('no copy holds samples, neither a backup nor what is put aside', async (t) => {
  const dir = t.testdir()
  const path = join(dir, 'gate.db')
  const url = `sqlite:${path}`
  const file = join(dir, 'backup.db')
  const sealedText = Buffer.from('a-sealed-text-that-is-found-in-files'.repeat(400))
  const storage = await openStorage({ url })
  await storage.keys.insert(keyRow())
  await storage.samples.add([sampleRow({ sealedText })], { rows: 10, bytes: 1e9 })
  const made = await backupStorage(url, file)
  t.equal(rowsOf(made, 'samples'), 0)
  t.equal((await storage.samples.totals('acme')).rows, 1, 'the store keeps its own')
  await storage.close()
  const holds = (name: string) => readFileSync(name).includes('a-sealed-text')
  t.equal(holds(path), true)
  t.equal(holds(file), false)
  // Made by other means, it is cleared where it is put back.
  copyFileSync(path, `${file}.copied`)
  const other = join(dir, 'other.db')
  copyFileSync(path, other)
  const { aside } = await restoreStorage(`sqlite:${other}`, `${file}.copied`, true)
  t.equal(holds(aside!), false)
  t.equal(holds(other), false)
  const restored = await openStorage({ url: `sqlite:${other}` })
  t.teardown(() => restored.close())
  t.same(await restored.samples.totals('acme'), { rows: 0, bytes: 0 })
  t.equal((await restored.keys.list('acme', {})).length, 1)
})
