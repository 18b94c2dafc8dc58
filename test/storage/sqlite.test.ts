import { randomBytes } from 'node:crypto'
import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { Kysely } from 'kysely'
import t from 'tap'
import { isId, newId } from '../../src/base/ids.js'
import { unbounded } from '../../src/storage/contracts/reviews.js'
import { openStorage } from '../../src/storage/open.js'
import { plugins } from '../../src/storage/sql/database.js'
import { migrate } from '../../src/storage/sql/migrations/index.js'
import type { KeyColumns, ReviewColumns, Tables } from '../../src/storage/sql/tables.js'
import { embeddedDialect } from '../../src/storage/sqlite/dialect.js'
import { sqlite } from '../../src/storage/sqlite/open.js'
import { keyRow, reviewRow, t0 } from './storage-suite.js'

const auditRow = (i: number) => ({ at: t0 + i, kind: 'test', account: 'acme', keyId: null, subject: null, data: { i } })

t.test('the file and its folder are made for their owner alone', async (t) => {
  const path = join(t.testdir(), 'new', 'folder', 'gate.db')
  const storage = await openStorage({ url: `sqlite:${path}` })
  t.teardown(() => storage.close())
  await storage.keys.insert(keyRow())
  t.equal(statSync(join(path, '..')).mode & 0o777, 0o700)
  for (const file of [path, `${path}-wal`, `${path}-shm`]) t.equal(statSync(file).mode & 0o777, 0o600, file)
})

t.test('of a text that was deleted nothing is left in any file, whoever else has the database open', async (t) => {
  const folder = t.testdir()
  const path = join(folder, 'gate.db')
  const spool = { folder: join(folder, 'spool'), maxBytes: 1_000_000 }
  const storage = await openStorage({ url: `sqlite:${path}`, spool })
  const beside = await openStorage({ url: `sqlite:${path}`, node: 'other' })
  t.teardown(() => Promise.all([storage.close(), beside.close()]))
  // Of every length that a page holds or does not, so that texts lie in cells and in pages of their own.
  const texts = [40, 900, 5_000, 70_000].map((length) => randomBytes(length))
  const rows = texts.map((text, i) =>
    reviewRow({
      digest: String(i),
      sealedRequest: text,
      sealedContext: text.subarray(0, 30).reverse(),
      sealedHistory: text.subarray(10).map((byte) => byte ^ 1)
    })
  )
  for (const row of rows) await (Number(row.digest) % 2 === 0 ? storage : beside).reviews.open(row)
  const kept = reviewRow({ digest: 'kept', sealedRequest: randomBytes(500), expiresAt: t0 + 1_000_000 })
  await storage.reviews.open(kept)
  /** Whether any file has so much of it as shows what it was. */
  const isLeft = (text: Uint8Array) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((name) => statSync(name).isFile())
      .some((name) => {
        const bytes = readFileSync(name)
        for (let at = 0; at + 16 <= text.length; at += 16)
          if (bytes.includes(Buffer.from(text.subarray(at, at + 16)))) return true
        return false
      })
  const sealed = rows.flatMap(({ sealedRequest, sealedContext, sealedHistory }) => [
    sealedRequest!,
    sealedContext!,
    sealedHistory!
  ])
  t.ok(sealed.every(isLeft), 'found before')
  // A row takes the room of another: what was there may not come to light in the slack between them.
  t.equal(await storage.reviews.purgeTexts({ endedBefore: t0 + 2_000, at: t0 + 2_000, limit: 100 }), 4)
  await storage.scrub()
  t.same(
    sealed.map(isLeft),
    sealed.map(() => false)
  )
  t.ok(isLeft(kept.sealedRequest!), 'and what is kept is there')
})

t.test('a text that the driver would cut short is refused, stored or looked for', async (t) => {
  const storage = await openStorage({ url: `sqlite:${join(t.testdir(), 'gate.db')}` })
  t.teardown(() => storage.close())
  const row = keyRow()
  await storage.keys.insert(row)
  await t.rejects(storage.keys.get('acme', `${row.keyId}\u0000x`), { code: 'storage_unavailable' })
  await t.rejects(storage.keys.insert(keyRow({ name: 'a\u0000b' })), { code: 'storage_unavailable' })
})

t.test('after a crash everything that was acknowledged is there', async (t) => {
  const path = join(t.testdir(), 'gate.db')
  const storage = await openStorage({ url: `sqlite:${path}` })
  t.teardown(() => storage.close())
  const [old, successor, review] = [keyRow(), keyRow(), reviewRow()]
  await storage.keys.insert(old)
  await storage.keys.rotate('acme', old.keyId, t0, t0 + 1, successor)
  await storage.keys.revoke('acme', successor.keyId, t0 + 2)
  await storage.reviews.open(review)
  await storage.reviews.decide('acme', review.reviewId, { state: 'permitted', at: t0, by: 'key_b', sealedNote: null })
  await storage.reviews.use('acme', review.reviewId, t0 + 1)
  storage.audit.append(auditRow(1))
  await storage.audit.flush()
  // The files as they stand on the disk at this moment, with no close: what a crash would leave.
  const crashed = `${path}.crashed`
  for (const end of ['', '-wal']) copyFileSync(path + end, crashed + end)
  const again = await openStorage({ url: `sqlite:${crashed}` })
  t.teardown(() => again.close())
  t.same(await again.keys.list('acme', {}), [
    { ...old, graceEndsAt: t0 + 1, rotatedTo: successor.keyId },
    { ...successor, revokedAt: t0 + 2 }
  ])
  t.match(await again.reviews.get('acme', review.reviewId), { state: 'permitted', usedAt: t0 + 1 })
  t.match(await again.audit.read({ limit: 9 }), [auditRow(1)])
})

t.test('a graceful stop loses no audit row, and without one they commit by themselves', async (t) => {
  const url = `sqlite:${join(t.testdir(), 'gate.db')}`
  const storage = await openStorage({ url })
  storage.audit.append(auditRow(1))
  let rows: object[] = []
  while (rows.length === 0) {
    await new Promise((resolve) => setImmediate(resolve))
    rows = await storage.audit.read({ limit: 9 })
  }
  for (let i = 2; i <= 5000; i++) storage.audit.append(auditRow(i))
  await storage.close()
  const again = await openStorage({ url })
  t.teardown(() => again.close())
  const read = await again.audit.read({ limit: 9999 })
  t.equal(read.length, 5000)
  t.ok(read.every(({ data }, i) => data.i === i + 1))
})

t.test('while another process holds the lock audit rows wait and are not lost', async (t) => {
  const path = join(t.testdir(), 'gate.db')
  const logged: string[] = []
  const storage = await openStorage({
    url: `sqlite:${path}`,
    log: { error: (_, message) => logged.push(message) }
  })
  t.teardown(() => storage.close())
  const other = new DatabaseSync(path)
  other.exec('begin immediate')
  storage.audit.append(auditRow(1))
  await t.rejects(storage.audit.flush(), { code: 'storage_unavailable' })
  await t.rejects(storage.keys.insert(keyRow()), { code: 'storage_unavailable' })
  t.same(await storage.keys.list('acme', {}), [], 'no partial effect')
  t.equal(await storage.keys.byPrefix('00000000'), undefined, 'reads go on')
  other.exec('rollback')
  other.close()
  await storage.audit.flush()
  t.match(await storage.audit.read({ limit: 9 }), [auditRow(1)])
})

t.test('many that start on a new file at once all start, and see each other’s writes', async (t) => {
  const url = `sqlite:${join(t.testdir(), 'gate.db')}`
  const storages = await Promise.all(Array.from({ length: 5 }, () => openStorage({ url })))
  t.teardown(() => Promise.all(storages.map((storage) => storage.close())))
  const first = await Promise.all(storages.map((storage) => storage.keys.insertFirst(keyRow())))
  t.equal(first.filter(Boolean).length, 1)
  for (const storage of storages) t.equal((await storage.keys.list('acme', {})).length, 1)
})

t.test('keys of a version before are roots by their lineage, and what waits is counted with its bytes', async (t) => {
  const path = join(t.testdir(), 'gate.db')
  const url = `sqlite:${path}`
  const old = keyRow()
  const successor = keyRow({ lineage: old.keyId })
  const review = reviewRow({ expiresAt: Date.now() + 60_000, sealedContext: new Uint8Array(4) })
  const before = new Kysely<Tables>({ dialect: embeddedDialect(new DatabaseSync(path)), plugins })
  await migrate(before, sqlite.columns, '012-journals')
  await before.insertInto('accounts').values({ id: 'acme', createdAt: 0 }).execute()
  for (const row of [old, successor]) {
    const { maxConcurrent, createdBy, roots, selfRotation, scopes, ipAllowlist, ...later } = row
    const { termsUrl, termsAcceptedAt, termsAcceptedBy, ...known } = later
    const values = { ...known, scopes: JSON.stringify(scopes), ipAllowlist: JSON.stringify(ipAllowlist) }
    await before
      .insertInto('keys')
      .values(values as KeyColumns)
      .execute()
  }
  const known = { ...review, matchedRules: '[]', categories: ',weapons,' }
  await before
    .insertInto('reviews')
    .values(known as unknown as ReviewColumns)
    .execute()
  await before.destroy()
  const storage = await openStorage({ url })
  t.teardown(() => storage.close())
  t.match(await storage.keys.get('acme', successor.keyId), {
    lineage: old.keyId,
    roots: [old.keyId],
    createdBy: null,
    selfRotation: true
  })
  const more = () => reviewRow({ digest: 'e'.repeat(64), createdAt: Date.now(), expiresAt: Date.now() + 60_000 })
  t.match(await storage.reviews.open(more(), [], { ...unbounded, bytes: 9 }), { full: 'bytes' }, 'seven lie there')
  t.match(await storage.reviews.open(more(), [], { ...unbounded, bytes: 10 }), { created: true })
})

t.test('what cannot be opened is named, with the reason', async (t) => {
  const folder = t.testdir({ 'text.db': 'this is no database, it only has the name of one'.repeat(50) })
  const newer = join(folder, 'newer.db')
  await (await openStorage({ url: `sqlite:${newer}` })).close()
  const db = new DatabaseSync(newer)
  db.exec(`insert into kysely_migration values ('999-future', '2099-01-01T00:00:00.000Z')`)
  db.close()
  const unreadable = join(folder, 'file', 'gate.db')
  writeFileSync(join(folder, 'file'), '')
  const table: [string, RegExp][] = [
    [`sqlite:${join(folder, 'text.db')}`, /text\.db cannot be opened: .*not a database/],
    [`sqlite:${newer}`, /newer\.db cannot be opened: .*999-future/],
    [`sqlite:${unreadable}`, /gate\.db cannot be opened/],
    ['sqlite:', /path of a file/],
    ['sqlite::memory:', /path of a file/],
    ['postgres://user:hunter2@127.0.0.1:1/gate', /postgres:\/\/127\.0\.0\.1:1\/gate cannot be opened: .*ECONNREFUSED/],
    ['mysql://user:hunter2@db/gate', /found mysql:/],
    ['/var/lib/gate.db', /no scheme/]
  ]
  for (const [url, message] of table) {
    const error = await openStorage({ url }).then(
      () => undefined,
      (error: Error) => error
    )
    t.match(error?.message, message, url)
    t.notMatch(error?.message, /hunter2/)
  }
})

t.test('both ways of writing an absolute path name one file', async (t) => {
  const path = join(t.testdir(), 'gate.db')
  await (await openStorage({ url: `sqlite://${path}` })).close()
  t.ok(existsSync(path))
})

t.test('an existing file keeps the mode that its owner gave it', async (t) => {
  const path = join(t.testdir(), 'gate.db')
  await (await openStorage({ url: `sqlite:${path}` })).close()
  chmodSync(path, 0o640)
  await (await openStorage({ url: `sqlite:${path}` })).close()
  t.equal(statSync(path).mode & 0o777, 0o640)
  t.match(readFileSync(path, 'latin1'), /^SQLite format 3/)
})

t.test('ids sort by time and have one form', (t) => {
  const ids = Array.from({ length: 100 }, (_, i) => newId('key', t0 + i * 1000))
  t.same([...ids].sort(), ids)
  t.equal(new Set(Array.from({ length: 1000 }, () => newId('key', t0))).size, 1000)
  t.ok(ids.every((id) => isId('key', id) && !isId('rev', id)))
  for (const text of ['key_', 'key_x', `${ids[0]}0`, ids[0]!.toUpperCase(), `key_${'z'.repeat(26)}`, `${ids[0]}\n`]) {
    t.equal(isId('key', text), false, text)
  }
  t.end()
})
