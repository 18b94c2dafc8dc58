/** Samples as people read them: in time, on every node, and never without a row of the audit. */
import t, { type Test } from 'tap'
import type { SampleSettings } from '../../src/base/settings.js'
import { createDryRunner } from '../../src/policy/explain/dry-run-pool.js'
import { Masker } from '../../src/samples/masking.js'
import type { SampleText } from '../../src/samples/sample.js'
import { type Reader, SampleService } from '../../src/samples/sample-service.js'
import { createSeal, sealedFor } from '../../src/sealing/seal.js'
import type { Storage } from '../../src/storage/contracts/index.js'
import { openMemory } from '../../src/storage/sqlite/open.js'
import { steppedClock } from '../identity/support.js'
import { sampleRow } from '../storage/samples-suite.js'

const day = 86_400_000
const seal = createSeal(Buffer.alloc(32, 7))
const reader: Reader = { accountId: 'acme', keyId: 'usr_a', scopes: ['samples:read'] }
const settings: SampleSettings = { what: 'stopped', share: 1, rows: 3, bytes: 1e9, retentionMs: 2 * day }
const runner = createDryRunner()
t.teardown(() => runner.close())

async function open(t: Test, change: Partial<Storage> = {}) {
  const storage = await openMemory()
  t.teardown(() => storage.close())
  const clock = steppedClock()
  const counts = { scrubbed: 0 }
  const node = () =>
    new SampleService({
      store: storage.samples,
      audit: change.audit ?? storage.audit,
      clock,
      seal,
      masker: new Masker({ runner, encoder: () => undefined }),
      settings,
      async scrub() {
        counts.scrubbed++
      }
    })
  const add = async (text: string, createdAt = clock.now()) => {
    const { sampleId, ...row } = sampleRow({ createdAt })
    const said: SampleText = {
      direction: 'request',
      parts: [{ role: 'user', text }],
      joined: [],
      detections: [],
      scores: {},
      isCut: false
    }
    const sealedText = seal.seal(Buffer.from(JSON.stringify(said)), sealedFor(sampleId, 'text'))
    await storage.samples.add([{ ...row, sampleId, sealedText }], { rows: 100, bytes: 1e9 })
    return sampleId
  }
  return { storage, clock, node, add, counts }
}

t.test('what is older than retention is shown to nobody, and deleted by the upkeep', async (t) => {
  const { storage, clock, node, add } = await open(t)
  const samples = node()
  const old = await add('old')
  clock.advance(2 * day)
  const young = await add('young')
  t.match(await samples.get(reader, old), { parts: [{ text: 'old' }] }, 'to the last moment')
  clock.advance(1)
  await t.rejects(samples.get(reader, old), { code: 'not_found' })
  t.match((await samples.list(reader)).samples, [{ sample_id: young }])
  t.match(await samples.texts('acme', {}, 10, 1_000), [[young, {}]])
  t.equal((await storage.samples.totals('acme')).rows, 2)
  t.equal(await samples.purge(), 1)
  t.equal((await storage.samples.totals('acme')).rows, 1)
  for (let i = 0; i < 5; i++) await add(`more ${i}`)
  t.equal(await samples.purge(), 3, 'bounds that were lowered hold too')
})

t.test('nodes share them, and every reading is a row before it is answered', async (t) => {
  const { storage, node, add, counts } = await open(t)
  const id = await add('one')
  const [a, b] = [node(), node()]
  t.match(await a.get(reader, id), { sample_id: id })
  await b.remove(reader, id)
  await t.rejects(a.get(reader, id), { code: 'not_found' })
  t.equal(counts.scrubbed, 1, 'what was deleted is in no file any more')
  const rows = await storage.audit.read({ filter: { account: 'acme' }, limit: 10 })
  t.match(rows, [
    { kind: 'sample.read', subject: id, keyId: 'usr_a' },
    { kind: 'sample.deleted', subject: id }
  ])
})

t.test('where the audit does not take the row, nothing is shown', async (t) => {
  const commit = async () => {
    throw new Error('down')
  }
  const { node, add } = await open(t, { audit: { commit } as never })
  const id = await add('one')
  await t.rejects(node().get(reader, id), /down/)
  await t.rejects(node().list(reader), /down/)
  await t.rejects(node().removeAll(reader, {}), /down/)
  await t.rejects(node().get({ ...reader, scopes: ['*'] }, id), { code: 'insufficient_scope' })
})
