/** What every store must do with samples. */
import type { Test } from 'tap'
import { newId } from '../../src/base/ids.js'
import type { Storage } from '../../src/storage/contracts/index.js'
import type { SampleFilter, SampleRow } from '../../src/storage/contracts/samples.js'

const t0 = Date.UTC(2026, 0, 1)
const unbounded = { rows: 1_000_000, bytes: 1e12 }

export function sampleRow(change: Partial<SampleRow> = {}): SampleRow {
  const createdAt = change.createdAt ?? t0
  return {
    sampleId: newId('smp', createdAt),
    evaluationId: newId('ev', createdAt),
    account: 'acme',
    keyId: 'key_a',
    surface: 'chat',
    route: '/v1/chat/completions',
    policy: 'default@1',
    decision: 'forbid',
    riskScore: 0.9,
    matchedRules: ['weapons', 'a%b_c'],
    categories: ['weapons'],
    upstream: 'default',
    model: null,
    createdAt,
    sealedText: Buffer.alloc(100, 7),
    ...change
  }
}

export function samplesSuite(t: Test, open: (t: Test) => Promise<Storage>): void {
  const idsOf = async ({ samples }: Storage, filter: SampleFilter = {}, account = 'acme') =>
    (await samples.list(account, { filter, limit: 1_000 })).map(({ sampleId }) => sampleId)

  t.test('a sample comes back as it was stored, to its account alone', async (t) => {
    const { samples } = await open(t)
    const row = sampleRow({ model: 'gpt-x' })
    await samples.add([row], unbounded)
    t.match(await samples.get('acme', row.sampleId), { ...row, sealedText: Buffer.from(row.sealedText) })
    t.equal(await samples.get('other', row.sampleId), undefined)
    const [listed] = await samples.list('acme', { limit: 1 })
    t.match(listed, { sampleId: row.sampleId, bytes: 100, matchedRules: row.matchedRules, categories: ['weapons'] })
    t.notOk('sealedText' in listed!, 'a list has no texts')
    t.same(await samples.totals('acme'), { rows: 1, bytes: 100 })
    t.same(await samples.totals('other'), { rows: 0, bytes: 0 })
    t.equal(await samples.remove('other', row.sampleId), false)
    t.equal(await samples.remove('acme', row.sampleId), true)
    t.equal(await samples.remove('acme', row.sampleId), false)
    t.same(await samples.totals('acme'), { rows: 0, bytes: 0 })
  })

  t.test('the newest come first, page by page, by whatever they are looked for', async (t) => {
    const storage = await open(t)
    const { samples } = storage
    const rows = Array.from({ length: 250 }, (_, i) =>
      sampleRow({
        createdAt: t0 + i,
        decision: i % 5 === 0 ? 'permit' : i % 2 === 0 ? 'divert' : 'forbid',
        keyId: i < 100 ? 'key_a' : 'key_b',
        route: i === 7 ? '/other' : '/v1/chat/completions',
        matchedRules: i === 3 ? ['a%b_c'] : i === 4 ? ['axbyc'] : [],
        categories: i === 5 ? ['hate', 'violence'] : []
      })
    )
    await samples.add(rows, unbounded)
    const newest = rows.toReversed()
    t.same(
      await idsOf(storage),
      newest.map(({ sampleId }) => sampleId)
    )
    const cases: [SampleFilter, (row: SampleRow, i: number) => boolean][] = [
      [{ decision: 'divert' }, ({ decision }) => decision === 'divert'],
      [{ decision: 'stopped' }, ({ decision }) => decision !== 'permit'],
      [{ rule: 'a%b_c' }, ({ matchedRules }) => matchedRules.includes('a%b_c')],
      [{ rule: 'a' }, () => false],
      [{ category: 'violence' }, ({ categories }) => categories.includes('violence')],
      [{ route: '/other' }, ({ route }) => route === '/other'],
      [{ keyId: 'key_b', decision: 'permit' }, (row) => row.keyId === 'key_b' && row.decision === 'permit'],
      [{ from: t0 + 10, to: t0 + 20 }, ({ createdAt }) => createdAt >= t0 + 10 && createdAt <= t0 + 20],
      [{ evaluationId: rows[9]!.evaluationId }, (row) => row === rows[9]],
      [{ evaluationId: rows[9]!.evaluationId, decision: 'permit' }, () => false]
    ]
    for (const [filter, fits] of cases) {
      const wanted = newest.filter(fits).map(({ sampleId }) => sampleId)
      t.same(await idsOf(storage, filter), wanted, JSON.stringify(filter))
      const paged: string[] = []
      for (let after: string | undefined; ; ) {
        const page = await samples.list('acme', { filter, after, limit: 7 })
        paged.push(...page.map(({ sampleId }) => sampleId))
        after = page.at(-1)?.sampleId
        if (page.length < 7) break
      }
      t.same(paged, wanted)
    }
    t.equal(await samples.removeAll('other', {}), 0)
    t.equal(await samples.removeAll('acme', { decision: 'stopped' }), 200)
    t.same(await samples.totals('acme'), { rows: 50, bytes: 5_000 })
    t.equal(await samples.removeAll('acme', {}), 50)
    t.same(await idsOf(storage), [])
  })

  t.test('no account has more than its bounds, the oldest go first, and what is too old goes', async (t) => {
    const storage = await open(t)
    const { samples } = storage
    const rows = Array.from({ length: 30 }, (_, i) => sampleRow({ createdAt: t0 + i }))
    await samples.add([sampleRow({ account: 'other', createdAt: t0 - 5 })], unbounded)
    for (let i = 0; i < rows.length; i += 10) await samples.add(rows.slice(i, i + 10), { rows: 12, bytes: 1e9 })
    t.same(
      await idsOf(storage),
      rows
        .slice(18)
        .reverse()
        .map(({ sampleId }) => sampleId)
    )
    await samples.add([sampleRow({ createdAt: t0 + 40, sealedText: Buffer.alloc(500) })], { rows: 100, bytes: 900 })
    t.same(await samples.totals('acme'), { rows: 5, bytes: 900 })
    t.equal(await samples.purge({ createdBefore: t0 + 27, bounds: unbounded, limit: 100 }), 2)
    t.same(await samples.totals('acme'), { rows: 4, bytes: 800 }, 'the rest is younger')
    t.same(await idsOf(storage, {}, 'other'), [])
    t.equal(await samples.purge({ createdBefore: 0, bounds: { rows: 1, bytes: 1e9 }, limit: 100 }), 3)
    t.same(await samples.totals('acme'), { rows: 1, bytes: 500 })
  })

  t.test('many that write at once keep the count and the bound', async (t) => {
    const { samples } = await open(t)
    const adding = Array.from({ length: 20 }, (_, i) =>
      samples.add([sampleRow({ createdAt: t0 + i }), sampleRow({ createdAt: t0 + i })], { rows: 15, bytes: 1e9 })
    )
    await Promise.all(adding)
    t.same(await samples.totals('acme'), { rows: 15, bytes: 1_500 })
    t.equal((await samples.list('acme', { limit: 100 })).length, 15)
  })
}
