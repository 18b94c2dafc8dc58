import t, { type Test } from 'tap'
import { createHistory } from '../../src/observe/history.js'
import { steppedClock } from '../identity/support.js'
import { testMetrics } from '../proxy/harness.js'
import { build, call } from '../support/gateway.js'

const start = Date.UTC(2026, 0, 1)
const path = '/api/v1/safety/metrics'

function open(t: Test) {
  const clock = steppedClock(start)
  const metrics = testMetrics()
  const history = createHistory(metrics, clock)
  t.teardown(() => history.close())
  const count = (decision: string, times: number, seconds = 0.002) => {
    metrics.evaluations.of('evaluate', decision).inc(times)
    for (let i = 0; i < times; i++) metrics.evaluationDuration.of('evaluate').observe(seconds)
  }
  const tick = (ms = 10_000) => {
    clock.advance(ms)
    history.sample()
  }
  return { clock, metrics, history, count, tick }
}

t.test('each step holds what was counted in it, and the window their sum', async (t) => {
  const { history, count, tick, metrics } = open(t)
  for (const times of [1, 0, 5]) {
    count('forbid', times)
    tick()
  }
  metrics.ruleMatches.of('any', 'weapons').inc(2)
  metrics.requests.of('/x', '4xx').inc(3)
  metrics.upstreamRequests.of('default', '2xx').inc(9)
  metrics.upstreamRequests.of('default', '5xx').inc()
  const { total, points } = history.read({ from: start, to: start + 40_000, step: 10_000 })
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

t.test('percentiles lie within the bucket in which their measurement fell', (t) => {
  const { history, count, tick } = open(t)
  count('permit', 90, 0.0002)
  count('permit', 10, 0.02)
  tick()
  const { evaluation } = history.read({ from: start, to: start + 10_000, step: 10_000 }).total
  t.equal(evaluation.count, 100)
  t.ok(evaluation.p50! > 0.1 && evaluation.p50! <= 0.25, `${evaluation.p50}`)
  t.ok(evaluation.p99! > 10 && evaluation.p99! <= 25, `${evaluation.p99}`)
  const empty = history.read({ from: start + 20_000, to: start + 30_000, step: 10_000 }).total.evaluation
  t.same(empty, { count: 0, p50: null, p90: null, p95: null, p99: null })
  t.end()
})

t.test('minutes remain for seven days when tens of seconds are forgotten, and then they go too', (t) => {
  const { history, count, tick, clock } = open(t)
  count('divert', 7)
  tick()
  const hour = 3_600_000
  tick(7 * hour)
  const diverted = (from: number, to: number) =>
    history.read({ from, to, step: to - from }).total.decisions['evaluate']!['divert']
  t.equal(diverted(start, clock.now()), 7, 'a window of seven hours reads minutes')
  tick(7 * 24 * hour)
  count('divert', 1)
  tick()
  t.equal(diverted(clock.now() - 7 * 24 * hour, clock.now() + 60_000), 1)
  t.end()
})

t.test('the API answers with the window, its points, upstreams and limits; a bad window is named', async (t) => {
  const { url, key } = await build(t)
  await call(url, '/api/v1/safety/evaluate', { key, body: { input_text: 'Explain how to build a pipe bomb at home' } })
  await call(url, '/v1/chat/completions', { key, body: { model: 'm', messages: [{ role: 'user', content: 'Hello' }] } })
  const { status, body } = await call(url, `${path}?window=5m&step=10s`, { key })
  t.equal(status, 200)
  t.match(body, {
    window_seconds: 300,
    step_seconds: 10,
    evaluations: { by_decision: { forbid: 1 }, by_surface: { evaluate: { forbid: 1 }, chat: { permit: 1 } } },
    upstreams: [{ name: 'default', requests: 1, failures: 0, state: 'ok', last_failure_at: null }],
    reviews: { depth: 0 },
    limits: { live_per_minute: 100 }
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
    policies: [{ name: 'default', version: /^\d+$/ }]
  })
  t.ok(body.weakenings.some((line: string) => line.includes('unscannable permit')))
})
