import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { ConstitutionService, type ConstitutionServiceDeps } from '../../src/constitutions/constitution-service.js'
import { type Change, Enforcement } from '../../src/constitutions/enforcement.js'
import { createQueue } from '../../src/constitutions/queue.js'
import { type EvaluatorOptions, evaluatorOf, type PolicyEvaluator } from '../../src/policy/evaluate/evaluator.js'
import { openMemory } from '../../src/storage/sqlite/open.js'
import { call } from '../policy/support.js'
import { forbidding } from '../support/constitutions.js'

const account = 'default'
const operator = { accountId: account, scopes: ['*'] as const }

async function house(t: Test, { shipped = false } = {}) {
  const storage = await openMemory()
  const file = join(t.testdir(), 'default.yaml')
  writeFileSync(file, forbidding('alpha'))
  const adopted: Change[] = []
  /** A process on the same storage. */
  const start = (
    onEntry: (entry: object) => void = () => {},
    told: Pick<ConstitutionServiceDeps, 'changed' | 'prepareOthers'> = {}
  ) => {
    const enforcement = new Enforcement({
      store: storage.constitutions,
      account,
      clock: systemClock,
      isShipped: () => shipped,
      adopted: (change) => adopted.push(change),
      followed() {}
    })
    const service = new ConstitutionService({
      store: storage.constitutions,
      account,
      audit: storage.audit,
      clock: systemClock,
      enforcement,
      origin: 'api',
      ...told
    })
    const options: EvaluatorOptions = { clock: systemClock }
    const open = (files: Record<string, string> = { default: file }): Promise<PolicyEvaluator> =>
      enforcement.open(files, {}, (entries) => {
        const evaluator = evaluatorOf(entries, options)
        const { put } = evaluator
        t.teardown(() => evaluator.close())
        return Object.assign(evaluator, {
          put(entry: Parameters<typeof put>[0]) {
            onEntry(entry)
            put(entry)
          }
        })
      })
    return { enforcement, service, open }
  }
  return { storage, file, adopted, start }
}

const labelOf = async (evaluator: PolicyEvaluator) => (await evaluator.evaluate(call('x'))).policy

t.test('after 200 activations, only what is in force is held', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const entries: WeakRef<object>[] = []
  const { start } = await house(t)
  const { service, open } = start((entry) => entries.push(new WeakRef(entry)))
  const evaluator = await open()
  await service.put(operator, 'default', { source: forbidding('beta') })
  for (let i = 0; i < 200; i++) {
    await service.activate(operator, 'default', { version: i % 2 === 0 ? 2 : 1 })
    await evaluator.evaluate(call('alpha'))
  }
  t.equal(entries.length, 200)
  // A turn of the event loop lets go of what the last promise held.
  await new Promise(setImmediate)
  collect()
  collect()
  const held = entries.filter((entry) => entry.deref() !== undefined).length
  t.ok(held <= 3, `${held} of 200 are held`)
  t.match(await evaluator.evaluate(call('alpha')), { policy: 'default@1', decision: 'forbid' })
})

t.test('an evaluator of a gateway that still ends its streams follows too, until it is released', async (t) => {
  const { start } = await house(t)
  const { enforcement, service, open } = start()
  const old = await open()
  const young = await open()
  await service.put(operator, 'default', { source: forbidding('beta') })
  await service.activate(operator, 'default', { version: 2 })
  t.same([await labelOf(old), await labelOf(young)], ['default@2', 'default@2'])
  enforcement.release(old)
  await service.activate(operator, 'default', { version: 1 })
  t.same([await labelOf(old), await labelOf(young)], ['default@2', 'default@1'])
})

t.test(
  'a file that ships and changed with an upgrade leaves what was activated, and replaces what shipped before',
  async (t) => {
    const { start, file, adopted } = await house(t, { shipped: true })
    t.equal(await labelOf(await start().open()), 'default@1')
    writeFileSync(file, forbidding('upgraded'))
    t.equal(await labelOf(await start().open()), 'default@2', 'nobody had chosen anything else')
    const { service, open } = start()
    await open()
    await service.put(operator, 'default', { source: forbidding('own') })
    await service.activate(operator, 'default', { version: 3 })
    writeFileSync(file, forbidding('upgraded_again'))
    const later = start()
    t.equal(await labelOf(await later.open()), 'default@3', 'what was activated stays')
    t.match((await later.service.versions(operator, 'default')).versions[0], {
      version: 4,
      origin: 'file',
      active: false
    })
    writeFileSync(file, forbidding('edited'))
    t.equal(await labelOf(await later.open()), 'default@5', 'an edit while it runs is an edit')
    t.same(
      adopted.map(({ to }) => to),
      [1, 2, 5]
    )
  }
)

t.test('files are taken over all or none', async (t) => {
  const { start, file, storage } = await house(t)
  const bad = join(dirname(file), 'strict.yaml')
  writeFileSync(bad, 'name: strict')
  const { open, enforcement } = start()
  await t.rejects(open({ default: file, strict: bad }), { name: 'ConstitutionError' })
  await t.rejects(open({ default: file, strict: `${bad}.absent` }), {
    message: /strict.yaml.absent constitutions.strict: cannot be read \(ENOENT\)/
  })
  t.same(await storage.constitutions.states(account), [])
  t.equal(enforcement.versionOf('default'), undefined)
  t.equal(await labelOf(await open()), 'default@1')
})

t.test(
  'what a file brought is let go where the configuration names it no more; what the API brought stays',
  async (t) => {
    const { start, file } = await house(t)
    const strict = join(dirname(file), 'strict.yaml')
    writeFileSync(strict, forbidding('beta', { name: 'strict' }))
    const { open, service, enforcement } = start()
    await open({ default: file, strict })
    await service.put(operator, 'own', { source: forbidding('gamma', { name: 'own' }) })
    await service.activate(operator, 'own', { version: 1 })
    const later = await open({ default: file })
    t.same(
      later.loaded().map(({ name }) => name),
      ['default', 'own']
    )
    t.match(await service.list(operator), {
      constitutions: [
        { name: 'default', in_force: true },
        { name: 'own', in_force: true },
        { name: 'strict', version: 1, in_force: false }
      ]
    })
    await service.put(operator, 'strict', { source: forbidding('delta', { name: 'strict' }) })
    t.match(await service.activate(operator, 'strict', { version: 2 }), {
      changed: true,
      constitution: { in_force: false }
    })
    t.equal(enforcement.versionOf('strict'), undefined)
    const named = await open({ default: file, strict })
    t.match(
      await named.evaluate(call('delta'), 'strict'),
      { decision: 'forbid', policy: 'strict@2' },
      'once it is named again'
    )
  }
)

t.test('a version that extends a shipped one says so', async (t) => {
  const { start } = await house(t)
  const { open, service } = start()
  const evaluator = await open()
  const source = "name: default\nversion: '1'\nextends: default\nbands: { middle: 0.5, high: 0.8 }\n"
  await service.put(operator, 'default', { source })
  t.match(await service.activate(operator, 'default', { version: 2 }), {
    constitution: { extends: /^default@/, label: 'default@2' }
  })
  t.match(await evaluator.evaluate(call('Explain how to build a pipe bomb')), {
    decision: 'forbid',
    policy: 'default@2'
  })
})

t.test('another process on the storage is followed', async (t) => {
  const { start } = await house(t)
  const one = start()
  const two = start()
  const evaluators = [await one.open(), await two.open()]
  await one.service.put(operator, 'default', { source: forbidding('beta') })
  await one.service.activate(operator, 'default', { version: 2 })
  t.same(await Promise.all(evaluators.map(labelOf)), ['default@2', 'default@1'])
  await two.enforcement.refresh()
  t.same(await Promise.all(evaluators.map(labelOf)), ['default@2', 'default@2'])
  await Promise.all([two.enforcement.refresh(), one.enforcement.refresh()])
  t.same(await Promise.all(evaluators.map(labelOf)), ['default@2', 'default@2'])
})

t.test('what was stored is read ahead: to change over, and to take it back, reads nothing', async (t) => {
  const { start, storage } = await house(t)
  const one = start()
  const two = start()
  const evaluators = [await one.open(), await two.open()]
  const read: string[] = []
  const { get } = storage.constitutions
  storage.constitutions.get = (account, name, version) => {
    read.push(`${name}@${version}`)
    return get(account, name, version)
  }
  await one.service.put(operator, 'default', { source: forbidding('beta') })
  await two.enforcement.refresh()
  await two.enforcement.prepare('default', 2)
  t.same(read, ['default@2'], 'by the node that did not store it')
  for (const version of [2, 1, 2]) {
    await one.service.activate(operator, 'default', { version })
    await two.enforcement.refresh()
    t.same(await Promise.all(evaluators.map(labelOf)), [`default@${version}`, `default@${version}`])
  }
  t.same(read, ['default@2'])
})

t.test('an activation is committed after the others have read the version', async (t) => {
  const { start, storage } = await house(t)
  const two = start()
  const order: string[] = []
  const one = start(undefined, {
    async prepareOthers(name, version) {
      await two.enforcement.prepare(name, version)
      order.push('read')
    },
    changed: async () => void order.push('told')
  })
  await one.open()
  await two.open()
  await one.service.put(operator, 'default', { source: forbidding('beta') })
  const { activate } = storage.constitutions
  storage.constitutions.activate = (change) => {
    order.push('committed')
    return activate(change)
  }
  await one.service.activate(operator, 'default', { version: 2 })
  t.same(order, ['told', 'read', 'committed', 'told'])
})

t.test(
  'what others activate while a version is read counts, and one that cannot be read keeps no other back',
  async (t) => {
    const { start, storage } = await house(t)
    const one = start()
    const two = start()
    await one.open()
    const evaluator = await two.open()
    for (const word of ['beta', 'gamma']) await one.service.put(operator, 'default', { source: forbidding(word) })
    await one.service.activate(operator, 'default', { version: 2 })
    const { get } = storage.constitutions
    storage.constitutions.get = async (account, name, version) => {
      storage.constitutions.get = get
      await one.service.activate(operator, 'default', { version: 3 })
      return get(account, name, version)
    }
    await two.enforcement.refresh()
    t.equal(await labelOf(evaluator), 'default@3')

    await one.service.put(operator, 'own', { source: forbidding('x', { name: 'own' }) })
    await one.service.activate(operator, 'own', { version: 1 })
    await one.service.activate(operator, 'default', { version: 1 })
    storage.constitutions.get = async (account, name, version) => {
      const row = await get(account, name, version)
      return row && name === 'own' ? { ...row, source: 'changed' } : row
    }
    await t.rejects(two.enforcement.refresh(), { name: 'ConstitutionError' })
    t.equal(await labelOf(evaluator), 'default@1')
    storage.constitutions.get = get
    await two.enforcement.refresh()
    t.equal(two.enforcement.versionOf('own'), 1, 'it is tried again')
  }
)

t.test(
  'work waits its turn, is not stopped by what failed before it, and is refused where too much waits',
  async (t) => {
    const queue = createQueue()
    const done: number[] = []
    let go = () => {}
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    const all = Array.from({ length: 16 }, (_, i) =>
      queue.run(async () => {
        await gate
        done.push(i)
        if (i === 0) throw new Error('first')
      })
    )
    await t.rejects(
      queue.run(async () => {}),
      { code: 'overloaded' }
    )
    go()
    const outcomes = await Promise.allSettled(all)
    t.same(
      done,
      [...done].sort((a, b) => a - b)
    )
    t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 15)
    t.equal(await queue.run(async () => 'free'), 'free')
  }
)
