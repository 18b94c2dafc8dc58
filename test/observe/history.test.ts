import t, { type Test } from 'tap'
import { thresholds, weekBefore } from '../../src/api/week-before.js'
import { Fault } from '../../src/base/errors.js'
import { createHistory } from '../../src/observe/history.js'
import { createPresence } from '../../src/observe/presence.js'
import type { MetricsStore } from '../../src/storage/contracts/processes.js'
import { openMemory } from '../../src/storage/sqlite/open.js'
import { steppedClock } from '../identity/support.js'
import { testMetrics } from '../proxy/harness.js'
import { build, call } from '../support/gateway.js'

const start = Date.UTC(2026, 0, 1)
const path = '/api/v1/safety/metrics'

async function open(
  t: Test,
  given: { store?: MetricsStore; clock?: ReturnType<typeof steppedClock>; process?: string } = {}
) {
  const { clock = steppedClock(start), process = 'prc_a', store = (await openMemory()).metrics } = given
  const metrics = testMetrics()
  const rounds = (error: unknown) => error !== undefined && t.fail(String(error))
  const history = createHistory({ metrics, clock, store, process, rounds })
  t.teardown(() => history.close())
  const count = (decision: string, times: number, seconds = 0.002) => {
    metrics.evaluations.of('evaluate', decision).inc(times)
    for (let i = 0; i < times; i++) metrics.evaluationDuration.of('evaluate').observe(seconds)
  }
  const tick = (ms = 10_000) => {
    clock.advance(ms)
    history.sample()
  }
  return { clock, metrics, history, count, tick, store }
}

t.test('each step holds what was counted in it, and the window their sum', async (t) => {
  const { history, count, tick, metrics } = await open(t)
  for (const times of [1, 0, 5]) {
    count('forbid', times)
    tick()
  }
  metrics.ruleMatches.of('any', 'weapons').inc(2)
  metrics.requests.of('/x', '4xx').inc(3)
  metrics.upstreamRequests.of('default', '2xx').inc(9)
  metrics.upstreamRequests.of('default', '5xx').inc()
  const { total, points } = await history.read({ from: start, to: start + 40_000, step: 10_000 })
  t.same(
    points.map(({ decisions }) => decisions['evaluate']!['forbid']),
    [1, 0, 5, 0]
  )
  t.same(
    points.map(({ at }) => at - start),
    [0, 10_000, 20_000, 30_000]
  )
  t.match(total, {
    decisions: { evaluate: { forbid: 6, permit: 0 }, chat: { forbid: 0 } },
    categories: { weapons: 2 },
    statuses: { '4xx': 3 },
    upstreams: { default: { requests: 10, failures: 1 } }
  })
  t.equal(history.lastFailures.get('default'), start + 30_000)
})

t.test('percentiles lie within the bucket in which their measurement fell', async (t) => {
  const { history, count, tick } = await open(t)
  count('permit', 90, 0.0002)
  count('permit', 10, 0.02)
  tick()
  const { evaluation } = (await history.read({ from: start, to: start + 10_000, step: 10_000 })).total
  t.equal(evaluation.count, 100)
  t.ok(evaluation.p50! > 0.1 && evaluation.p50! <= 0.25, `${evaluation.p50}`)
  t.ok(evaluation.p99! > 10 && evaluation.p99! <= 25, `${evaluation.p99}`)
  const empty = (await history.read({ from: start + 20_000, to: start + 30_000, step: 10_000 })).total.evaluation
  t.same(empty, { count: 0, p50: null, p90: null, p95: null, p99: null })
})

t.test('minutes remain for seven days when tens of seconds are forgotten, and then they go too', async (t) => {
  const { history, count, tick, clock } = await open(t)
  count('divert', 7)
  tick()
  const hour = 3_600_000
  tick(7 * hour)
  const diverted = async (from: number, to: number) =>
    (await history.read({ from, to, step: to - from })).total.decisions['evaluate']!['divert']
  t.equal(await diverted(start, clock.now()), 7, 'a window of seven hours reads minutes')
  tick(7 * 24 * hour)
  count('divert', 1)
  tick()
  t.equal(await diverted(clock.now() - 7 * 24 * hour, clock.now() + 60_000), 1)
})

t.test(
  'a process that starts anew goes on where the last one ended, and the time between is known as a gap',
  async (t) => {
    const { store, clock, history, count, tick, metrics } = await open(t)
    count('forbid', 3, 0.0002)
    metrics.upstreamRequests.of('other', '5xx').inc()
    tick()
    const failedAt = clock.now()
    await history.close()
    clock.advance(170_000)
    const next = await open(t, { store, clock, process: 'prc_b' })
    next.count('forbid', 1, 0.02)
    next.tick()
    const { total, points } = await next.history.read({ from: start, to: start + 240_000, step: 60_000 })
    t.same(
      points.map(({ processes, decisions }) => [processes, decisions['evaluate']!['forbid']]),
      [
        [1, 3],
        [0, 0],
        [0, 0],
        [1, 1]
      ]
    )
    t.match(total, { evaluation: { count: 4 }, upstreams: { other: { requests: 1, failures: 1 } } })
    t.equal(next.history.lastFailures.get('other'), failedAt)
  }
)

t.test('what is asked of one process is answered for all, with percentiles of all measurements together', async (t) => {
  const a = await open(t)
  const b = await open(t, { store: a.store, clock: a.clock, process: 'prc_b' })
  // The mean of the two medians would be 10 ms.
  a.count('permit', 90, 0.0002)
  b.count('permit', 10, 0.02)
  b.metrics.upstreamRequests.of('only b', '2xx').inc()
  const window = { from: start, to: start + 60_000, step: 60_000 }
  b.tick()
  b.history.sample()
  await b.history.read(window)
  const { total, points } = await a.history.read(window)
  t.equal(points[0]!.processes, 2)
  t.equal(total.decisions['evaluate']!['permit'], 100)
  t.ok(total.evaluation.p50! < 0.25 && total.evaluation.p99! > 10, JSON.stringify(total.evaluation))
  t.same(total.upstreams, { 'only b': { requests: 1, failures: 0 } })
  // Later in the same step: each row is counted once, however often it was written and read.
  b.count('permit', 5, 0.02)
  a.count('permit', 1, 0.02)
  b.tick()
  await b.history.read(window)
  for (let look = 0; look < 3; look++)
    t.equal((await a.history.read(window)).total.decisions['evaluate']!['permit'], 106)
})

t.test(
  'what the storage does not take waits for it; the question meanwhile is refused, not answered by half',
  async (t) => {
    const { metrics: real } = await openMemory()
    let isDown = false
    const failing = async () => {
      throw new Fault('storage_unavailable')
    }
    const store: MetricsStore = { ...real, put: (rows) => (isDown ? failing() : real.put(rows)) }
    const { history, count, tick } = await open(t, { store })
    const window = { from: start, to: start + 60_000, step: 10_000 }
    isDown = true
    count('forbid', 2)
    tick()
    await t.rejects(history.read(window), { code: 'storage_unavailable' })
    count('forbid', 1)
    tick()
    isDown = false
    t.equal((await history.read(window)).total.decisions['evaluate']!['forbid'], 3)
  }
)

t.test('what another release stored is read: its wider and narrower buckets, and names that are gone', async (t) => {
  const { store, history } = await open(t)
  const row = { process: 'prc_old', stepMs: 10_000, at: start, writtenAt: start }
  await store.put([
    { ...row, counts: { 'evaluation 0.0003': 4, 'evaluation 99': 1, 'decision gone permit': 7, 'category hate': 2 } }
  ])
  const { total } = await history.read({ from: start, to: start + 10_000, step: 10_000 })
  t.equal(total.evaluation.count, 5)
  t.ok(total.evaluation.p50! > 0.25 && total.evaluation.p50! <= 0.5, `${total.evaluation.p50}`)
  t.equal(total.evaluation.p99, 2000, 'beyond the last bound')
  t.equal(total.categories['hate'], 2)
})

t.test('the week before: minutes for a day, ten minutes for a week, and what is usual at this hour', async (t) => {
  const { history, count, tick, clock } = await open(t)
  const hour = 3_600_000
  const day = 24 * hour
  for (let days = 0; days < 9; days++) {
    count('permit', 90)
    count('forbid', days === 3 ? 90 : 10)
    tick(hour)
    clock.advance(day - hour)
    history.sample()
  }
  const now = clock.now() + 600_000
  clock.advance(600_000)
  count('permit', 50)
  count('forbid', 50)
  tick(60_000)
  const { total } = await history.read({ from: start + 2 * day, to: start + 2 * day + hour, step: hour })
  t.match(total, { decisions: { evaluate: { permit: 90, forbid: 10 } }, evaluation: { count: 100 } })
  const late = await weekBefore(history, { from: now, to: now + hour, step: 60_000 }, now + hour)
  const half = await weekBefore(history, { from: now, to: now + hour, step: hour }, now + hour / 2)
  t.match(half, { evaluations: { total: 50, stopped: 5 }, points: [{ evaluations: 100 }] }, 'until now')
  t.match(late, { evaluations: { total: 100, stopped: 10 } })
  t.equal(late!.points.length, 60)
  t.equal(
    late!.points.reduce((sum, { evaluations }) => sum + evaluations, 0),
    100
  )
  // Counted in one minute: a third of it in each 20 s.
  const middle = start + 9 * day + hour / 2
  const fine = await weekBefore(
    history,
    { from: middle - 10_000, to: middle + 890_000, step: 20_000 },
    middle + 890_000
  )
  t.equal(fine!.points.length, 45)
  t.same(
    fine!.points.slice(0, 5).map(({ evaluations }) => evaluations),
    [0, 33.33, 33.33, 33.33, 0]
  )
  t.equal(await weekBefore(history, { from: start, to: start + hour, step: 60_000 }, start + hour), null)
  const week = await weekBefore(
    history,
    { from: start + 7 * day, to: start + 14 * day, step: 3 * hour },
    start + 14 * day
  )
  t.match(week, { evaluations: { total: 780 } })

  const settings = { stops: { windowMs: hour, factor: 3, difference: 0.05, least: 100 }, reviewsWaiting: undefined }
  t.same(await thresholds(history, settings, start + 9 * day + hour / 2), {
    stopped: { usual: 0.1, low: 0.1 / 3, high: 0.1 * 3 },
    reviews_waiting: null
  })
})

t.test('the API answers with the window, its points, upstreams and limits; a bad window is named', async (t) => {
  const { url, key } = await build(t, { clock: steppedClock(start) })
  await call(url, '/api/v1/safety/evaluate', { key, body: { input_text: 'Explain how to build a pipe bomb at home' } })
  await call(url, '/v1/chat/completions', { key, body: { model: 'm', messages: [{ role: 'user', content: 'Hello' }] } })
  const { status, body } = await call(url, `${path}?window=5m&step=10s`, { key })
  t.equal(status, 200)
  t.match(body, {
    window_seconds: 300,
    nodes: 1,
    processes: 1,
    step_seconds: 10,
    evaluations: { by_decision: { forbid: 1 }, by_surface: { evaluate: { forbid: 1 }, chat: { permit: 1 } } },
    upstreams: [{ name: 'default', requests: 1, failures: 0, state: 'ok', last_failure_at: null }],
    reviews: { depth: 0 },
    limits: { live_per_minute: 100 },
    week_before: null,
    thresholds: { stopped: null, reviews_waiting: { count: 50, age_seconds: 14_400 } }
  })
  t.equal(body.points.length, 30)
  t.equal(body.points.at(-1).decisions.forbid, 1)
  t.ok(body.latency.evaluation.count >= 2 && body.latency.evaluation.p50 > 0)
  for (const [query, field] of [
    ['window=8d', 'query.window'],
    ['window=1', 'query.window'],
    ['window=1h&step=3s', 'query.step'],
    ['window=6h&step=10s', 'query.step'],
    ['other=1', 'query.other']
  ] as const) {
    t.match(await call(url, `${path}?${query}`, { key }), { status: 400, body: { details: { field } } }, query)
  }
  const { body: made } = await call(url, '/api/v1/ssaas/keys', {
    key,
    body: { name: 'k', scopes: ['safety:evaluate'], accept_terms: true }
  })
  t.match(await call(url, path, { key: made.key }), { status: 403, body: { required: 'safety:metrics' } })
})

t.test('status tells the version, the policies and every setting that weakens the guard', async (t) => {
  const { url, key } = await build(t, { yaml: 'defaults: { unscannable: permit }', env: { SLUICEGATE_NODE: 'n1' } })
  const { status, body } = await call(url, '/api/v1/status', { key })
  t.equal(status, 200)
  t.match(body, {
    version: /^\d+\.\d+\.\d+/,
    node: 'n1',
    storage: { kind: 'memory', available: true },
    audit: { dropped: 0 },
    configuration: { demo: true, age_seconds: Number },
    policies: [{ name: 'default', version: /^\d+$/ }],
    processes: [{ node: 'n1', worker: null, pid: process.pid, state: 'serving', answers: true, weakenings: Array }]
  })
  t.ok(body.weakenings.some((line: string) => line.includes('unscannable permit')))
})

t.test(
  'status lists every process by what it says of itself; one that is not heard of is silent, one that ends is gone',
  async (t) => {
    const clock = steppedClock(start)
    const { processes: store } = await openMemory()
    const facts = {
      version: '1',
      runtime: 'v24',
      pid: 1,
      worker: null,
      loadedAt: start,
      policies: [],
      auditDropped: 0,
      dataKeys: { startedWith: 'a', current: 'a', known: ['a'] }
    }
    const serve = (process: string, node: string, weakenings: string[] = []) => {
      const self = { process, node, startedAt: clock.now() }
      const rounds = (error: unknown) => error !== undefined && t.fail(String(error))
      const presence = createPresence({ store, clock, self, facts: () => ({ ...facts, weakenings }), rounds })
      t.teardown(() => presence.close())
      return presence
    }
    const [b, a] = [serve('prc_b', 'node-b', ['open']), serve('prc_a', 'node-a')]
    await Promise.all([a.tell(), b.tell()])
    const seen = async () =>
      (await a.all()).map(({ node, isSilent, isSelf, weakenings }) => [node, isSilent, isSelf, weakenings])
    t.same(await seen(), [
      ['node-a', false, true, []],
      ['node-b', false, false, ['open']]
    ])
    clock.advance(36_000)
    t.same((await seen())[1], ['node-b', true, false, ['open']])
    await b.tell()
    t.same((await seen())[1], ['node-b', false, false, ['open']])
    await b.close()
    await b.tell()
    t.equal((await seen()).length, 1)
  }
)
