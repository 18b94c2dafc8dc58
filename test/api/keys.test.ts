import t from 'tap'
import { steppedClock } from '../identity/support.js'
import { build, call } from '../support/gateway.js'

const path = '/api/v1/ssaas/keys'
const evaluate = (url: string, key: string) =>
  call(url, '/api/v1/safety/evaluate', { key, body: { input_text: 'hello' } })

t.test('create, use, list, revoke: the full key is shown once and ends at once', async (t) => {
  const { url, key } = await build(t)
  const created = await call(url, path, { key, body: { name: 'ci', scopes: ['safety:evaluate'], accept_terms: true } })
  t.match(created, {
    status: 201,
    body: {
      key: /^slg_live_[0-9A-Za-z]{8}_[0-9A-Za-z]{48}$/,
      record: {
        name: 'ci',
        environment: 'live',
        scopes: ['safety:evaluate'],
        ip_allowlist: [],
        status: 'active',
        last_used_at: null,
        revoked_at: null
      }
    }
  })
  const { key: full, record } = created.body
  t.ok(full.startsWith(`${record.prefix}_`))
  t.match(await evaluate(url, full), { status: 200 })
  t.match(
    await call(url, path, { headers: { authorization: `Bearer ${full}` } }),
    { status: 200, body: { keys: [{ key_id: record.key_id }] } },
    'a key without * lists itself'
  )
  const list = await call(url, path, { key })
  t.equal(list.body.keys.length, 2)
  t.notMatch(JSON.stringify(list.body), full.slice(-48), 'a listing never holds a full key')
  const foreign = list.body.keys.find((other: { key_id: string }) => other.key_id !== record.key_id).key_id
  t.match(await call(url, `${path}/${foreign}`, { key: full, method: 'DELETE' }), {
    status: 403,
    body: { error: 'insufficient_scope', required: '*' }
  })
  const revoked = await call(url, `${path}/${record.key_id}`, { key, method: 'DELETE' })
  t.match(revoked, { status: 200, body: { status: 'revoked', revoked_at: /^\d{4}-.*Z$/ } })
  t.match(await evaluate(url, full), { status: 401, body: { error: 'invalid_api_key' } }, 'effective before the answer')
  t.same(
    (await call(url, `${path}/${record.key_id}`, { key, method: 'DELETE' })).body,
    revoked.body,
    'again: the same record, unchanged'
  )
  t.match(await call(url, `${path}/${record.key_id}/rotate`, { key, method: 'POST' }), {
    status: 409,
    body: { error: 'key_revoked' }
  })
  t.match(await call(url, `${path}/key_00000000000000000000000000`, { key, method: 'DELETE' }), {
    status: 404,
    body: { error: 'not_found' }
  })
})

t.test('rotate: the old key works for exactly five minutes more, and both share one count', async (t) => {
  const clock = steppedClock()
  const { url, key } = await build(t, { clock })
  const { body: made } = await call(url, path, {
    key,
    body: { name: 'app', scopes: ['safety:evaluate'], rate_limit_per_minute: 3, accept_terms: true }
  })
  t.match(await evaluate(url, made.key), { status: 200 })
  const rotated = await call(url, `${path}/${made.record.key_id}/rotate`, { key, method: 'POST' })
  t.match(rotated, {
    status: 201,
    body: {
      record: { name: 'app', scopes: ['safety:evaluate'], status: 'active' },
      previous: {
        key_id: made.record.key_id,
        status: 'retiring',
        revoked_at: new Date(clock.now() + 300_000).toISOString(),
        rotated_to: rotated.body.record.key_id
      }
    }
  })
  t.match(await evaluate(url, made.key), { status: 200 })
  t.match(await evaluate(url, rotated.body.key), { status: 200 })
  t.match(await evaluate(url, rotated.body.key), { status: 429 }, 'the counters follow the key')
  t.match(await call(url, `${path}/${made.record.key_id}/rotate`, { key, method: 'POST' }), {
    status: 409,
    body: { error: 'key_retiring' }
  })
  clock.advance(299_999)
  t.match(await evaluate(url, made.key), { status: 200 }, 'at 299.999 s')
  clock.advance(1)
  t.match(await evaluate(url, made.key), { status: 401, body: { error: 'invalid_api_key' } }, 'at 300 s')
  t.match(await evaluate(url, rotated.body.key), { status: 200 })
  const { body: list } = await call(url, path, { key })
  const old = list.keys.find(({ key_id }: { key_id: string }) => key_id === made.record.key_id)
  t.match(old, { status: 'revoked', rotated_to: rotated.body.record.key_id })
})

t.test('revoking a retiring key ends its grace', async (t) => {
  const { url, key } = await build(t)
  const { body: made } = await call(url, path, { key, body: { name: 'app', accept_terms: true } })
  await call(url, `${path}/${made.record.key_id}/rotate`, { key, method: 'POST' })
  t.match(await evaluate(url, made.key), { status: 200 })
  await call(url, `${path}/${made.record.key_id}`, { key, method: 'DELETE' })
  t.match(await evaluate(url, made.key), { status: 401 })
})

t.test('unknown, wrong, revoked and expired keys give one body', async (t) => {
  const clock = steppedClock()
  const { url, key } = await build(t, { clock })
  const make = async (extra: object = {}) =>
    (await call(url, path, { key, body: { name: 'x', accept_terms: true, ...extra } })).body
  const revoked = await make()
  await call(url, `${path}/${revoked.record.key_id}`, { key, method: 'DELETE' })
  const expired = await make({ expires_at: new Date(clock.now() + 1000).toISOString() })
  clock.advance(1000)
  const mistyped = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
  const bodies = []
  for (const given of [revoked.key, expired.key, mistyped, 'slg_live_x', 'sk-other']) {
    const { status, body } = await evaluate(url, given)
    t.equal(status, 401)
    bodies.push({ ...body, request_id: undefined })
  }
  for (const body of bodies) t.same(body, bodies[0])
})

t.test('two different keys in one request are refused; the same key twice is one key', async (t) => {
  const { url, key } = await build(t)
  const { body: other } = await call(url, path, { key, body: { name: 'other', accept_terms: true } })
  const both = (second: string) => call(url, path, { headers: { 'x-api-key': key, authorization: `Bearer ${second}` } })
  t.match(await both(other.key), { status: 401, body: { error: 'invalid_api_key' } })
  t.match(await both(key), { status: 200 })
  t.match(await both('sk-not-ours'), { status: 200 }, 'other values are ignored')
})

t.test('limits: headers count down, the limit is exact in any sixty seconds, live and test differ', async (t) => {
  const clock = steppedClock()
  const { url, key } = await build(t, { clock })
  const { body: testKey } = await call(url, path, { key, body: { name: 't', environment: 'test', accept_terms: true } })
  for (const [name, given, limit] of [
    ['live', key, 100],
    ['test', testKey.key, 20]
  ] as const) {
    const answers = await Promise.all(Array.from({ length: limit + 10 }, () => evaluate(url, given)))
    t.equal(
      answers.filter(({ status }) => status === 200).length,
      limit,
      `${name}: exactly ${limit} of ${limit + 10} at once`
    )
    const refused = answers.find(({ status }) => status === 429)!
    t.match(refused.body, {
      error: 'rate_limit_exceeded',
      retry_after: 60,
      message: new RegExp(`${limit} requests per minute`)
    })
  }
  clock.advance(59_999)
  t.match(await evaluate(url, key), { status: 429 })
  clock.advance(1)
  const first = await evaluate(url, key)
  t.match(first, { status: 200 })
  t.equal(first.headers.get('x-ratelimit-remaining'), '99')
})

t.test('failed authentications are counted per address and do not slow a good key', async (t) => {
  const { url, key } = await build(t, { yaml: 'limits: { failed_auth_per_address_per_minute: 5 }' })
  for (let i = 0; i < 5; i++) t.match(await evaluate(url, 'slg_live_wrong'), { status: 401 })
  const limited = await evaluate(url, 'slg_live_wrong')
  t.match(limited, { status: 429, body: { error: 'rate_limit_exceeded' } })
  t.match(await evaluate(url, key), { status: 200 })
})

t.test('terms are shown, must be accepted, and are recorded; without any the field counts for nothing', async (t) => {
  const clock = steppedClock(Date.UTC(2026, 0, 2))
  const { url, key } = await build(t, { yaml: 'server: { terms_url: https://example.org/terms }', clock })
  t.match(await call(url, '/api/v1/status', { key }), { body: { terms_url: 'https://example.org/terms' } })
  for (const [accepted, reason] of [
    [{}, 'missing'],
    [{ accept_terms: false }, 'unknown_value']
  ] as const) {
    t.match(await call(url, path, { key, body: { name: 'x', ...accepted } }), {
      status: 400,
      body: { error: 'validation_error', details: { field: 'accept_terms', reason } }
    })
  }
  const { keys } = (await call(url, path, { key })).body
  t.match(keys, [{ terms: null }], 'the first key of a start has none')
  const made = await call(url, path, { key, body: { name: 'x', accept_terms: true } })
  const { record } = made.body
  const terms = { url: 'https://example.org/terms', accepted_at: record.created_at, accepted_by: keys[0].key_id }
  t.same(record.terms, terms)
  t.same((await call(url, `${path}/${record.key_id}/rotate`, { key, method: 'POST' })).body.record.terms, terms)

  const without = await build(t)
  t.match(await call(without.url, '/api/v1/status', { key: without.key }), { body: { terms_url: null } })
  for (const accepted of [{}, { accept_terms: true }, { accept_terms: false }]) {
    const made = await call(without.url, path, { key: without.key, body: { name: 'x', ...accepted } })
    t.match(made, { status: 201, body: { record: { terms: null } } })
  }
})
