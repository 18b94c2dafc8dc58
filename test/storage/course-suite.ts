/** The course of verdicts that charts draw: what is counted is what a search of the same filter finds. */
import type { Test } from 'tap'
import type { AuditFilter, AuditStore } from '../../src/storage/contracts/audit.js'
import type { Storage } from '../../src/storage/contracts/index.js'

const t0 = Date.UTC(2026, 0, 1)
const decisions = ['permit', 'depends', 'divert', 'forbid'] as const

export function courseSuite(t: Test, open: (t: Test) => Promise<Storage>): void {
  t.test('the course of verdicts: by any filter, step by step, of one account', async (t) => {
    const { audit } = await open(t)
    const verdicts = Array.from({ length: 5_000 }, (_, i) => ({
      // As nodes store: not quite in the order of time.
      at: t0 + (i ^ 5) * 20,
      account: i % 10 === 9 ? 'other' : 'acme',
      keyId: i % 2 === 0 ? 'key_a' : 'key_b',
      kind: i % 11 === 0 ? 'fail_open' : 'evaluation',
      subject: `ev_${i}`,
      data: {
        decision: decisions[i % 7] ?? 'permit',
        risk_score: (i % 100) / 100,
        rules: i % 3 === 0 ? ['r1', 'r2'] : [],
        categories: i % 4 === 0 ? ['hate'] : [],
        readers: ['rule'],
        route: i % 2 === 0 ? '/a' : '/b',
        upstream: 'up'
      }
    }))
    for (const verdict of verdicts) audit.append(verdict)
    await audit.flush()
    type Asked = Parameters<AuditStore['course']>[0]
    const check = async (filter: Omit<Asked['filter'], 'account'>, time: Omit<Asked, 'filter'>) => {
      const { countedFrom, points } = await audit.course({ filter: { ...filter, account: 'acme' }, ...time })
      const expected = Array.from({ length: Math.ceil((time.to - time.from) / time.step) }, () => ({
        permit: 0,
        depends: 0,
        divert: 0,
        forbid: 0
      }))
      const wanted: AuditFilter = { ...filter, account: 'acme', kind: 'evaluation', from: time.from, to: time.to - 1 }
      const rows = await audit.read({ filter: wanted, limit: 10_000 })
      for (const { at, data } of rows)
        expected[Math.floor((at - time.from) / time.step)]![data['decision'] as 'permit']++
      t.same(points, expected, JSON.stringify([filter, time]))
      t.equal(countedFrom, time.from)
      return rows.length
    }
    const whole = { from: t0, to: t0 + 100_000, step: 7_000 }
    const part = { from: t0 + 40_010, to: t0 + 71_000, step: 1_000 }
    for (const time of [whole, part]) {
      t.ok(await check({}, time))
      t.ok(await check({ keyId: 'key_b' }, time))
      t.ok(await check({ marks: { rule: 'r2', route: '/b' } }, time))
      t.ok(await check({ marks: { category: 'hate', decision: 'forbid' } }, time))
      t.ok(await check({ marks: { decision: 'stopped', upstream: 'up' } }, time))
      t.ok(await check({ minScore: 0.6, maxScore: 0.8 }, time))
      t.ok(await check({ minScore: 0.1, marks: { reader: 'rule' }, keyId: 'key_a' }, time))
      t.equal(await check({ marks: { model: "m' or 1=1" } }, time), 0)
    }
    t.equal(await check({}, { from: t0 + day, to: t0 + day + 1000, step: 100 }), 0)
  })
}

const day = 86_400_000
