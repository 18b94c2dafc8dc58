import t from 'tap'
import { Fault } from '../../src/base/errors.js'
import type { AdmissionRequest, Admitted } from '../../src/identity/admission.js'
import { generateKey, parseKey } from '../../src/identity/key-format.js'
import type { CreateKeyInput } from '../../src/identity/key-service.js'
import { createMemoryCounters } from '../../src/storage/memory/counters.js'
import { buildHouse, type House, operator, sibling } from './support.js'

const address = '198.51.100.7'

async function keyOf(house: House, input: Partial<CreateKeyInput> = {}): Promise<string> {
  return (await house.keys.create(operator, { name: 'a', ...input })).key
}

function ask(house: House, key: string | undefined, change: Partial<AdmissionRequest> = {}) {
  const headers = key === undefined ? {} : { 'x-api-key': key }
  return house.admission.admit({ headers, address, scope: 'safety:evaluate', cost: 1, ...change })
}

function facts(outcome: Admitted | Fault): object {
  if (!(outcome instanceof Fault)) return outcome
  const { status, code, message, fields, headers } = outcome
  return { status, error: code, message, ...fields, headers }
}

t.test('each refusal has the body of the specification', async (t) => {
  const house = buildHouse(t)
  const limited = await keyOf(house, { scopes: ['safety:evaluate', 'billing:read'], rate_limit_per_minute: 1 })
  t.same(facts(await ask(house, undefined)), {
    status: 401,
    error: 'api_key_required',
    message: 'An API key is required: send it as X-API-Key or as Authorization: Bearer.',
    docs: '/docs',
    headers: { 'www-authenticate': 'Bearer realm="sluicegate"' }
  })
  t.same(facts(await ask(house, limited, { scope: 'constitutions:write' })), {
    status: 403,
    error: 'insufficient_scope',
    message: 'This operation needs the scope constitutions:write.',
    required: 'constitutions:write',
    available: ['safety:evaluate', 'billing:read'],
    headers: {}
  })
  const listed = await keyOf(house, { ip_allowlist: ['10.0.0.0/8'] })
  t.same(facts(await ask(house, listed)), {
    status: 403,
    error: 'ip_not_allowed',
    message: `The address ${address} is not on the list of this API key.`,
    headers: {}
  })
  t.match(await ask(house, limited), { limit: { allowed: true, limit: 1, remaining: 0, reset: 60 } })
  house.clock.advance(20_500)
  t.same(facts(await ask(house, limited)), {
    status: 429,
    error: 'rate_limit_exceeded',
    message: 'Rate limit exceeded: 1 request per minute.',
    retry_after: 40,
    headers: { 'retry-after': '40', 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '40' }
  })
  const full = await keyOf(house)
  await ask(house, full, { cost: 100 })
  t.match(facts(await ask(house, full)), { message: 'Rate limit exceeded: 100 requests per minute.' })
  t.same(house.denials, [
    'api_key_required',
    'insufficient_scope',
    'ip_not_allowed',
    'rate_limit_exceeded',
    'rate_limit_exceeded'
  ])
})

t.test('unknown, wrong, revoked, expired and past-grace keys have one answer', async (t) => {
  const house = buildHouse(t)
  const [good, revoked, expired, rotated] = [
    await keyOf(house),
    await keyOf(house),
    await keyOf(house, { expires_at: '2026-01-01T00:01:00Z' }),
    await keyOf(house)
  ]
  const { keys: records } = await house.keys.list(operator)
  const idOf = (key: string) => records.find(({ prefix }) => key.startsWith(prefix))!.key_id
  await house.keys.revoke(operator, idOf(revoked))
  await house.keys.rotate(operator, idOf(rotated))
  house.clock.advance(5 * 60_000)
  // Another key under the good key's prefix: found by the lookup, wrong by its secret.
  const wrong = generateKey('live')
  await house.storage.keys.insert({
    ...(await house.storage.keys.get('default', idOf(good)))!,
    keyId: 'key_wrong',
    prefix: parseKey(wrong)!.prefix
  })
  const answers = []
  for (const key of [generateKey('live'), wrong, revoked, expired, rotated, good.slice(0, -1), 'sk-other']) {
    answers.push(JSON.stringify(facts(await ask(house, key))))
  }
  t.equal(new Set(answers).size, 1)
  t.match(JSON.parse(answers[0]!), { status: 401, error: 'invalid_api_key', docs: '/docs' })
  t.match(await ask(house, good), { caller: { scopes: ['*'] } })
})

t.test('the order is key, address, scope, limit, and what is refused before the limit burns nothing', async (t) => {
  const house = buildHouse(t)
  const key = await keyOf(house, {
    scopes: ['billing:read', 'safety:evaluate'],
    ip_allowlist: [address],
    rate_limit_per_minute: 2
  })
  const codes = async (change: Partial<AdmissionRequest>, presented = key) => {
    const outcome = await ask(house, presented, change)
    return outcome instanceof Fault ? outcome.code : outcome.limit?.remaining
  }
  const elsewhere = { address: '203.0.113.1', scope: 'pdp:adjudicate' } as const
  t.equal(await codes(elsewhere, generateKey('live')), 'invalid_api_key')
  for (let i = 0; i < 5; i++) {
    t.equal(await codes(elsewhere), 'ip_not_allowed')
    t.equal(await codes({ scope: 'pdp:adjudicate' }), 'insufficient_scope')
    t.equal(await codes({ cost: 0 }), undefined)
  }
  t.equal(await codes({}), 1)
  t.equal(await codes({}), 0)
  t.equal(await codes({}), 'rate_limit_exceeded')
  t.equal(await codes({ scope: 'pdp:adjudicate' }), 'insufficient_scope')
  t.equal(await codes({ cost: 0 }), undefined, 'management goes on')
  const { last_used_at } = (await house.keys.list(operator)).keys[0]!
  t.equal(last_used_at, '2026-01-01T00:00:00.000Z')
})

t.test('a leaked key that is tried from elsewhere does not count as used', async (t) => {
  const house = buildHouse(t)
  const key = await keyOf(house, { ip_allowlist: ['10.0.0.0/8'] })
  await ask(house, key)
  t.equal((await house.keys.list(operator)).keys[0]!.last_used_at, null)
})

t.test('a batch is charged whole or not at all', async (t) => {
  const house = buildHouse(t)
  const key = await keyOf(house, { rate_limit_per_minute: 10 })
  const { caller } = (await ask(house, key)) as Admitted
  t.match(house.admission.charge(caller, 8), { allowed: true, remaining: 1 })
  t.match(house.admission.charge(caller, 2), { code: 'rate_limit_exceeded', fields: { retry_after: 60 } })
  t.match(house.admission.charge(caller, 1), { allowed: true, remaining: 0 })
})

t.test('a cached key is admitted in the same turn, and costs one lookup in its time', async (t) => {
  const house = buildHouse(t)
  const key = await keyOf(house)
  await ask(house, key)
  t.notOk(ask(house, key) instanceof Promise)
  for (let i = 0; i < 30; i++) {
    await ask(house, key, { cost: 0 })
    house.clock.advance(100)
  }
  t.equal(house.lookups.length, 1)
  house.clock.advance(1000)
  await ask(house, key)
  t.equal(house.lookups.length, 2, 'asked again within 5 s')
  await Promise.all(Array.from({ length: 50 }, () => ask(house, generateKey('live').slice(0, -1))))
  t.equal(house.lookups.length, 2, 'a malformed key is never looked up')
  const unknown = generateKey('live')
  house.clock.advance(5000)
  await Promise.all(Array.from({ length: 50 }, () => ask(house, unknown)))
  await ask(house, unknown)
  t.equal(house.lookups.length, 3, 'an unknown one once, however many ask at once')
  house.clock.advance(1000)
  await ask(house, unknown)
  t.equal(house.lookups.length, 4, 'and again after a second')
})

t.test('a key that fails costs what an unknown one costs, whether its prefix exists or not', async (t) => {
  const house = buildHouse(t)
  const key = await keyOf(house)
  const unknown = generateKey('live')
  await ask(house, key)
  const counts = async (of: string) => {
    const before = house.lookups.length
    const counted: number[] = []
    for (const wait of [0, 10, 2000]) {
      house.clock.advance(wait)
      t.ok((await ask(house, sibling(of))) instanceof Fault)
      counted.push(house.lookups.length - before)
    }
    return counted
  }
  const wrong = await counts(key)
  t.same(wrong, [1, 1, 2])
  t.same(await counts(unknown), wrong)
  t.notOk((await ask(house, key)) instanceof Fault, 'and keeps nobody out')
})

t.test('what another process changes is in force within 5 s', async (t) => {
  const house = buildHouse(t)
  const key = await keyOf(house)
  const { keyId } = ((await ask(house, key)) as Admitted).caller
  // Straight into the store, as the command line does: this process is told nothing.
  await house.storage.keys.revoke('default', keyId, house.clock.now())
  t.match(await ask(house, key), { caller: {} })
  house.clock.advance(5000)
  t.match(await ask(house, key), { code: 'invalid_api_key' })
})

t.test(
  'what this process changes is in force when the change resolves, against any lookup that began before',
  async (t) => {
    const house = buildHouse(t)
    const key = await keyOf(house)
    const [record] = (await house.keys.list(operator)).keys
    let release = () => {}
    house.control.gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const early = ask(house, key)
    // The lookup has read the row, and is held up until after the revocation.
    await new Promise((resolve) => setImmediate(resolve))
    t.equal(house.lookups.length, 1)
    await house.keys.revoke(operator, record!.key_id)
    house.control.gate = undefined
    t.match(
      await ask(house, key),
      { code: 'invalid_api_key' },
      'who asks after it is refused, though that lookup runs on'
    )
    release()
    t.match(await early, { caller: {} }, 'who asked before it may still be answered by the old row')
    t.match(await ask(house, key), { code: 'invalid_api_key' }, 'but the old row, arriving last, is not cached')
  }
)

t.test('a key that was unknown a moment ago works as soon as it is created here', async (t) => {
  const house = buildHouse(t)
  const key = generateKey('live')
  t.match(await ask(house, key), { code: 'invalid_api_key' })
  await house.keys.ensureFirstKey({ bootstrapKey: key })
  t.match(await ask(house, key), { caller: {} })
})

t.test('while the storage is down known keys work for their time, and nothing else does', async (t) => {
  const house = buildHouse(t, { staleKeysMs: 60_000 })
  const [key, idle] = [await keyOf(house), await keyOf(house)]
  await ask(house, key)
  house.control.down = true
  house.clock.advance(5000)
  t.match(await ask(house, key), { caller: {} })
  t.match(facts(await ask(house, idle)), { status: 503, error: 'storage_unavailable', headers: { 'retry-after': '1' } })
  t.match(await ask(house, generateKey('live')), { code: 'storage_unavailable' })
  t.match(await ask(house, key.slice(0, -1)), { code: 'invalid_api_key' })
  const asked = house.lookups.length
  await ask(house, key)
  t.equal(house.lookups.length, asked, 'the dead storage is asked once a second, not at each request')
  house.clock.advance(54_999)
  t.match(await ask(house, key), { caller: {} })
  house.clock.advance(2)
  t.match(await ask(house, key), { code: 'storage_unavailable' })
  t.equal(house.denials.at(-1), 'storage_unavailable')
})

t.test('expiry is kept by the clock while the storage is down', async (t) => {
  const house = buildHouse(t)
  const key = await keyOf(house, { expires_at: '2026-01-01T00:00:10Z' })
  await ask(house, key)
  house.control.down = true
  house.clock.advance(9_999)
  t.match(await ask(house, key), { caller: {} })
  house.clock.advance(1)
  t.match(await ask(house, key), { code: 'invalid_api_key' })
})

t.test('wrong keys are counted by address and slowed; good ones from the same address never are', async (t) => {
  const house = buildHouse(t, { limits: { failures: 5, live: 1000 } })
  const [key, unused] = [await keyOf(house), await keyOf(house)]
  for (let i = 0; i < 20; i++) t.match(await ask(house, key), { caller: {} })
  for (let i = 0; i < 5; i++) t.match(await ask(house, generateKey('live')), { code: 'invalid_api_key' })
  house.clock.advance(10_000)
  t.match(facts(await ask(house, 'sk-other')), {
    status: 429,
    error: 'rate_limit_exceeded',
    message: 'Rate limit exceeded: 5 failed authentications per minute from one address.',
    retry_after: 50,
    headers: { 'retry-after': '50' }
  })
  t.equal(house.denials.at(-1), 'failed_auth_limit')
  t.match(await ask(house, key), { caller: {} }, 'a key in use')
  t.match(await ask(house, unused), { caller: {} }, 'a key that was never seen here')
  t.match(await ask(house, undefined), { code: 'api_key_required' }, 'no key is no guess')
  t.match(await ask(house, generateKey('live'), { address: '198.51.100.8' }), { code: 'invalid_api_key' }, 'elsewhere')
  const lookups = house.lookups.length
  for (let i = 0; i < 200; i++) t.match(await ask(house, generateKey('live')), { code: 'rate_limit_exceeded' })
  t.ok(house.lookups.length - lookups <= 50, 'a flood of well-formed keys stops costing lookups')
  house.clock.advance(10_000)
  t.match(await ask(house, key), { caller: {} }, 'a key in use, though its cache entry has aged')
  house.clock.advance(40_000)
  t.match(await ask(house, generateKey('live')), { code: 'invalid_api_key' }, 'a minute later')
})

t.test('one IPv6 client is slowed over its whole /64', async (t) => {
  const house = buildHouse(t, { limits: { failures: 3 } })
  const from = (i: number) => ask(house, 'sk-other', { address: `2001:db8:1:2::${i}` })
  for (let i = 0; i < 3; i++) t.match(await from(i), { code: 'invalid_api_key' })
  t.match(await from(9), { code: 'rate_limit_exceeded' })
  t.match(await ask(house, 'sk-other', { address: '2001:db8:1:3::1' }), { code: 'invalid_api_key' })
})

t.test('counters that attackers invent are bounded', (t) => {
  const { clock } = buildHouse(t)
  const counters = createMemoryCounters({ clock, maxCounters: 1000 })
  for (let i = 0; i < 50_000; i++) counters.take(`address ${i}`, 1, 5, 60_000)
  t.ok(counters.size <= 1000)
  clock.advance(60_000)
  counters.take('a', 1, 5, 60_000)
  clock.advance(60_000)
  counters.take('b', 1, 5, 60_000)
  t.equal(counters.size, 2, 'idle ones are dropped')
  t.end()
})
