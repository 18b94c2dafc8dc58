import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Storage } from '../../src/storage/contracts/index.js'
import { ChainCheck } from '../../src/storage/journal/chain.js'
import type { Group } from '../../src/storage/journal/queue.js'
import { createAside } from '../../src/storage/sqlite/aside.js'
import { openSqlite } from '../../src/storage/sqlite/open.js'

const row = (subject: string) => ({
  at: 1_760_000_000_000,
  kind: 'evaluation',
  account: 'acct',
  keyId: 'key',
  subject,
  data: { decision: 'permit', rules: [], quote: '"\u2028é', absent: undefined }
})

const use = { account: 'acct', keyId: 'key', environment: 'live', surface: 'chat', day: '2026-01-02' } as const

function groupOf(journal: string, number: number, rows: number): Group {
  const subjects = Array.from({ length: rows }, (_, i) => `${number}.${i}`)
  return {
    journal,
    number,
    node: 'n1',
    rows: subjects.map(row),
    usage: [{ ...use, evaluations: rows, characters: 10 * rows }]
  }
}

async function start(t: Test) {
  const path = `${t.testdir()}/store.db`
  const storage = await openSqlite(path, { node: 'n1' })
  const told: string[] = []
  const aside = createAside(path, { error: (_details, message) => void told.push(message) })
  t.teardown(async () => {
    await aside.close()
    await storage.close()
  })
  return { path, storage, aside, told }
}

/** Offers a group until the thread takes it. */
async function taken(aside: ReturnType<typeof createAside>, group: Group): Promise<void> {
  while (!(await aside.store(group))) await setTimeout(20)
}

/** Rows wait, and are tried again, while the thread holds the file for longer than the event loop may wait for it. */
async function flushed({ audit }: Pick<Storage, 'audit'>): Promise<void> {
  for (;;) {
    try {
      return await audit.flush()
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'storage_unavailable') throw error
      await setTimeout(20)
    }
  }
}

t.test('a large group is stored by the thread, chained and counted as it would be without, and once', async (t) => {
  const { storage, aside, told } = await start(t)
  const journal = randomUUID()
  t.equal(await aside.store(groupOf(journal, 1, 39)), false, 'a small one is not worth the way')
  t.equal(await aside.store(groupOf(journal, 1, 40)), false, 'nothing waits for the thread to start')
  await taken(aside, groupOf(journal, 1, 250))
  await taken(aside, groupOf(journal, 2, 40))
  t.equal(await aside.store(groupOf(journal, 2, 40)), true, 'again, since an answer may be lost')
  t.equal(await aside.store(groupOf(journal, 3, 1)), true, 'a small one too, while the thread is there')

  const [head] = await storage.audit.heads()
  const check = new ChainCheck(head!)
  const rows = await storage.audit.chain('n1', { after: 0, limit: 1000 })
  for (const each of rows) check.next(each)
  t.same(check.end(), [])
  t.equal(rows.length, 291)
  const { absent: _, ...data } = row('').data
  t.match(rows[0], { subject: '1.0', position: 1, data })
  t.notOk('absent' in rows[0]!.data)
  t.match(await storage.usage.read('acct', { from: '2026-01-01', to: '2026-01-31' }), [
    { evaluations: 291, characters: 2910 }
  ])
  t.same(told, [])
})

t.test('the event loop writes beside the thread, and neither loses anything', async (t) => {
  const { storage, aside } = await start(t)
  const journal = randomUUID()
  await taken(aside, groupOf(journal, 1, 40))
  let last: Promise<boolean> = Promise.resolve(true)
  for (let number = 2; number <= 20; number++) {
    last = last.then(() => aside.store(groupOf(journal, number, 250)))
    storage.audit.append(row(`own.${number}`))
    await flushed(storage)
  }
  await last
  const [head] = await storage.audit.heads()
  const check = new ChainCheck(head!)
  const rows = await storage.audit.chain('n1', { after: 0, limit: 10_000 })
  for (const each of rows) check.next(each)
  t.same(check.end(), [])
  t.equal(rows.length, 40 + 19 * 250 + 19)
})

t.test('a storage under load stores every row, whoever does it', async (t) => {
  const { storage } = await start(t)
  for (let wave = 0; wave < 12; wave++) {
    for (let i = 0; i < 300; i++) storage.audit.append(row(`${wave}.${i}`))
    await flushed(storage)
    await setTimeout(100)
  }
  const rows = await storage.audit.read({ limit: 10_000 })
  t.same(
    rows.map(({ subject }) => subject),
    Array.from({ length: 12 }, (_, wave) => Array.from({ length: 300 }, (_, i) => `${wave}.${i}`)).flat(),
    'in order'
  )
})

t.test('a thread that cannot open the file is told of, and stored without', async (t) => {
  const { path, told } = await start(t)
  const aside = createAside(`${path}/none/x.db`, { error: (_details, message) => void told.push(message) })
  t.teardown(() => aside.close())
  const group = groupOf(randomUUID(), 1, 100)
  t.equal(await aside.store(group), false)
  while (told.length === 0) await setTimeout(20)
  t.match(told, [/no thread stores the audit/])
  t.equal(await aside.store(group), false)
})

t.test('closing while the thread starts ends it', async (t) => {
  const { aside } = await start(t)
  t.equal(await aside.store(groupOf(randomUUID(), 1, 100)), false)
  await aside.close()
  t.equal(await aside.store(groupOf(randomUUID(), 1, 100)), false)
})

/** A thread that is ended within a call of the driver ends the process: this one would be gone. */
t.test('it is closed while it starts and while it stores, and what it was given is stored', async (t) => {
  const { path, storage } = await start(t)
  const journal = randomUUID()
  await createAside(path, undefined).close()
  let number = 0
  for (let round = 0; round < 6; round++) {
    const aside = createAside(path, undefined)
    await aside.store(groupOf(journal, ++number, 40))
    if (round === 0) {
      await aside.close()
      continue
    }
    number--
    await taken(aside, groupOf(journal, ++number, 40))
    const under = [1, 2, 3].map(() => aside.store(groupOf(journal, ++number, 900)))
    await setTimeout(10 * round)
    await aside.close()
    t.same(await Promise.all(under), [true, true, true])
    t.equal(await aside.store(groupOf(journal, number + 1, 40)), false, 'what comes later is not for it')
  }
  t.equal((await storage.audit.chain('n1', { after: 0, limit: 100_000 })).length, 5 * (40 + 3 * 900))
})
