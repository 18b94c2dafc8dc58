/** How SQLite finds what each statement of the stores wants: none may look through a table, or sort one, to find a page. */
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { SqliteQueryCompiler } from 'kysely'
import t, { type Test } from 'tap'
import { reviewStates } from '../../src/storage/contracts/reviews.js'
import { migrateStorage, openStorage } from '../../src/storage/open.js'
import { constitutionSuite } from './constitution-suite.js'
import { peopleSuite } from './people-suite.js'
import { samplesSuite } from './samples-suite.js'
import { storageSuite, t0 } from './storage-suite.js'

/** Of a few rows whatever happens: one a node, a name, a route, an account, an alert; and the migrations' own. */
const small = [
  'alerts',
  'alert_watch',
  'audit_heads',
  'constitutions',
  'constitution_bindings',
  'sqlite_master',
  'kysely_migration',
  'kysely_migration_lock'
]

/** Every statement that any store of this process compiles. */
const prepared = new Set<string>()
const compile = SqliteQueryCompiler.prototype.compileQuery
SqliteQueryCompiler.prototype.compileQuery = function compileQuery(...asked) {
  const compiled = compile.apply(this, asked)
  prepared.add(compiled.sql)
  return compiled
}
t.teardown(() => {
  SqliteQueryCompiler.prototype.compileQuery = compile
})

/** Every choice of some of these. */
function* choices<T>(all: readonly T[]): Generator<T[]> {
  for (let bits = 0; bits < 2 ** all.length; bits++) yield all.filter((_, i) => (bits >> i) & 1)
}

/** What lists can be asked for, beyond what the suites ask. */
async function askEverything(url: string): Promise<void> {
  const storage = await openStorage({ url })
  const { audit, reviews, usage, samples, keys, users, deliveries, exceptions, metrics } = storage
  const account = 'a'
  const marks = { rule: 'r', decision: 'stopped', model: 'm' }
  for (const names of choices(Object.keys(marks) as (keyof typeof marks)[])) {
    const some = { marks: Object.fromEntries(names.map((name) => [name, marks[name]])) }
    for (const filter of [
      { account },
      { account, keyId: 'key_a', from: 1 },
      { account, subject: 's', kind: 'evaluation' },
      { account, minScore: 0.8, maxScore: 1 },
      { account, maxScore: 0.2, node: 'n' },
      { kind: 'evaluation' }
    ]) {
      for (const order of ['oldest', 'newest'] as const) {
        for (const after of [undefined, 5]) {
          await audit.read({ filter: { ...filter, ...some }, order, after, limit: 3 })
        }
      }
    }
  }
  for (const decision of [undefined, 'stopped', 'permit']) {
    for (const rest of [{}, { keyId: 'key_a' }, { minScore: 0.1, maxScore: 0.2 }, { minScore: 0.8, node: 'n' }]) {
      for (const rule of [undefined, 'r']) {
        const filter = { account, ...rest, marks: { decision, rule, route: '/a' } }
        await audit.course({ filter, from: 1, to: 100, step: 10 })
      }
    }
  }
  const filter = { account: 'a', kind: 'k', keyId: 'i', subject: 's', node: 'n', from: 1, to: 2 }
  for (const order of ['oldest', 'newest'] as const) {
    for (const after of [undefined, 5]) {
      for (const names of choices(Object.keys(filter) as (keyof typeof filter)[])) {
        const some = Object.fromEntries(names.map((name) => [name, filter[name]]))
        await audit.read({ filter: some, order, after, limit: 3 })
        await audit.read({ filter: { ...some, withProgram: true }, order, after, limit: 3 })
      }
    }
    const page = { category: 'hate', keyId: 'key_a', createdBefore: t0, createdAfter: 1, after: 'rev_0' } as const
    for (const state of [undefined, 'expired', ...reviewStates] as const) {
      for (const names of choices(Object.keys(page) as (keyof typeof page)[])) {
        const some = Object.fromEntries(names.map((name) => [name, page[name]]))
        await reviews.list('acme', { ...some, state, now: t0, order, limit: 3 })
      }
    }
  }
  for (const keyId of [undefined, 'key_a']) {
    for (const after of [undefined, { day: 'd', keyId: 'key_a', surface: 'chat' }]) {
      await usage.read('acme', { from: 'a', to: 'z', keyId, after })
    }
  }
  await keys.list('acme', { after: 'key_0', limit: 1 })
  await users.list('acme', { after: 'usr_0' })
  await users.purge({ createdBefore: 1, seenBefore: 1, now: 1 })
  for (const state of [undefined, 'dead', 'accepted'] as const) {
    for (const after of [undefined, 'x']) {
      await deliveries.list('acme', { state: state === undefined ? state : 'dead', after, limit: 1 })
      await exceptions.list({ state: state === undefined ? state : 'accepted', after, limit: 1 })
    }
  }
  const sample = { decision: 'stopped', rule: 'r', keyId: 'key_a', evaluationId: 'ev_a', from: 1, to: 2 } as const
  for (const names of choices(Object.keys(sample) as (keyof typeof sample)[])) {
    const some = Object.fromEntries(names.map((name) => [name, sample[name]]))
    for (const after of [undefined, 'smp_0']) await samples.list('acme', { filter: some, after, limit: 3 })
  }
  await deliveries.dead()
  await metrics.prune(1, 1)
  await audit.prune(1, 1)
  await storage.close()
}

t.test('sqlite', async (t) => {
  const newUrl = (t: Test) => `sqlite:${join(t.testdir(), 'data', 'test.db')}`
  const open = async (t: Test) => {
    const storage = await openStorage({ url: newUrl(t) })
    t.teardown(() => storage.close())
    return storage
  }
  storageSuite(t, open)
  constitutionSuite(t, open)
  peopleSuite(t, open)
  samplesSuite(t, open)
  t.test('whatever may be asked', async (t) => {
    await askEverything(newUrl(t))
  })

  t.test('every statement finds its rows by an index, in order', async (t) => {
    const path = join(t.testdir(), 'plans.db')
    await migrateStorage(`sqlite:${path}`)
    const db = new DatabaseSync(path)
    t.teardown(() => db.close())
    const tables = db.prepare("select name from sqlite_master where type = 'table'").all() as { name: string }[]
    const large = new Set(tables.map(({ name }) => name).filter((name) => !small.includes(name)))
    const statements = [...prepared].filter(
      (text) =>
        /^\s*(?:select|with|insert|update|delete)\b/i.test(text) && [...large].some((name) => text.includes(name))
    )
    t.ok(statements.length > 300, `${statements.length} statements`)
    const faults: string[] = []
    for (const text of statements) {
      // Of the migration's own work, which meets each row once.
      if (/audit_before/.test(text)) continue
      const plan = db.prepare(`explain query plan ${text}`).all(...Array(50).fill(null).slice(0, holes(text))) as {
        detail: string
      }[]
      for (const { detail } of plan) {
        const scanned = /^SCAN (\S+)(.*)$/.exec(detail)
        const looksThrough =
          scanned !== null &&
          large.has(scanned[1]!.replaceAll('"', '')) &&
          // In the order of an index, and only until there are enough.
          !(/USING (?:COVERING )?INDEX|^$/.test(scanned[2]!.trim()) && /\blimit \?/i.test(text))
        // A course sorts into its points what one stretch of an index holds: at most some thousand entries.
        const isBounded = /group by "point"$/.test(text.trim()) && detail === 'USE TEMP B-TREE FOR GROUP BY'
        if (looksThrough || (/TEMP B-TREE/.test(detail) && !isBounded)) faults.push(`${detail}: ${text.trim()}`)
      }
    }
    t.same(faults, [])
  })
})

function holes(text: string): number {
  return text.match(/\?/g)?.length ?? 0
}
