import { join } from 'node:path'
import t from 'tap'
import type { Actor, Caller } from '../../src/identity/caller.js'
import { generateKey, parseKey } from '../../src/identity/key-format.js'
import { KeyService } from '../../src/identity/key-service.js'
import type { Verified } from '../../src/identity/verify.js'
import { openStorage } from '../../src/storage/open.js'
import { buildHouse, type House, operator } from './support.js'

const minute = 60_000
const day = 24 * 60 * minute

function works(house: House, key: string): Promise<boolean> {
  return Promise.resolve(house.verifier.verify(parseKey(key)!)).then((verified) => verified !== undefined)
}

async function callerOf(house: House, key: string): Promise<Caller> {
  return ((await house.verifier.verify(parseKey(key)!)) as Verified).caller
}

t.test('a created key has the defaults of the contract, is shown once, and works at once', async (t) => {
  const house = await buildHouse(t)
  const { key, record } = await house.keys.create(operator, { name: 'ci' })
  t.match(record, {
    key_id: /^key_[0-9a-z]{26}$/,
    name: 'ci',
    prefix: key.slice(0, 17),
    environment: 'live',
    scopes: ['*'],
    ip_allowlist: [],
    status: 'active',
    created_at: '2026-01-01T00:00:00.000Z',
    last_used_at: null,
    expires_at: null,
    revoked_at: null,
    rotated_to: null,
    rate_limit_per_minute: null,
    max_concurrent: null,
    created_by: null,
    lineage: record.key_id,
    roots: [record.key_id],
    self_rotation: true
  })
  t.equal(Object.keys(record).length, 19)
  t.equal(await works(house, key), true)
  t.same(await house.keys.get(operator, record.key_id), record)
  t.notMatch(JSON.stringify(await house.keys.list(operator)), key.slice(18))
})

t.test('what a key may be is checked, and the field is named', async (t) => {
  const house = await buildHouse(t)
  const table: [object, string, string][] = [
    [{ name: '' }, 'name', 'empty'],
    [{ name: '  ' }, 'name', 'empty'],
    [{ name: 'x'.repeat(101) }, 'name', 'too_long'],
    [{ name: 'a\u001b[2J' }, 'name', 'invalid_format'],
    [{ environment: 'prod' }, 'environment', 'unknown_value'],
    [{ scopes: [] }, 'scopes', 'empty'],
    [{ scopes: ['billing:read', 'root'] }, 'scopes.1', 'unknown_value'],
    [{ ip_allowlist: ['10.0.0.0/8', '10.0.0.0/99'] }, 'ip_allowlist.1', 'invalid_format'],
    [{ ip_allowlist: Array(257).fill('::1') }, 'ip_allowlist', 'too_long'],
    [{ expires_at: 'tomorrow' }, 'expires_at', 'invalid_format'],
    [{ expires_at: '2026-06-01' }, 'expires_at', 'invalid_format'],
    [{ expires_at: '2026-06-01T00:00:00' }, 'expires_at', 'invalid_format'],
    [{ expires_at: '2026-02-30T00:00:00Z' }, 'expires_at', 'invalid_format'],
    [{ expires_at: '2026-13-01T00:00:00Z' }, 'expires_at', 'invalid_format'],
    [{ expires_at: '2026-01-01T00:00:00Z' }, 'expires_at', 'out_of_range'],
    [{ rate_limit_per_minute: 0 }, 'rate_limit_per_minute', 'out_of_range'],
    [{ rate_limit_per_minute: 1_000_001 }, 'rate_limit_per_minute', 'out_of_range'],
    [{ rate_limit_per_minute: 1.5 }, 'rate_limit_per_minute', 'out_of_range'],
    [{ max_concurrent: 0 }, 'max_concurrent', 'out_of_range'],
    [{ max_concurrent: 100_001 }, 'max_concurrent', 'out_of_range']
  ]
  for (const [change, field, reason] of table) {
    const refused = house.keys.create(operator, { name: 'x', ...change })
    await t.rejects(refused, { code: 'validation_error', fields: { details: { field, reason } } }, field)
  }
  t.same(await house.keys.list(operator), { keys: [] })
  const { key, record } = await house.keys.create(operator, {
    name: 'full',
    environment: 'test',
    scopes: ['billing:read', 'billing:read', 'safety:evaluate'],
    ip_allowlist: ['10.0.0.0/8', '::1'],
    expires_at: '2026-01-01T02:00:00+01:00',
    rate_limit_per_minute: 7,
    max_concurrent: 9
  })
  t.match(record, { scopes: ['billing:read', 'safety:evaluate'], expires_at: '2026-01-01T01:00:00.000Z' })
  t.match(await callerOf(house, key), {
    limitPerMinute: 7,
    maxConcurrent: 9,
    environment: 'test',
    prefix: record.prefix
  })
})

t.test('without a limit of its own a key has its environment’s', async (t) => {
  const house = await buildHouse(t)
  const live = await house.keys.create(operator, { name: 'live' })
  const test = await house.keys.create(operator, { name: 'test', environment: 'test' })
  t.equal((await callerOf(house, live.key)).limitPerMinute, 100)
  t.equal((await callerOf(house, test.key)).limitPerMinute, 20)
})

t.test('a rotated-out key works for exactly five minutes more', async (t) => {
  const house = await buildHouse(t)
  const { key, record } = await house.keys.create(operator, { name: 'a', scopes: ['safety:evaluate'] })
  const rotated = await house.keys.rotate(operator, record.key_id)
  t.match(rotated.previous, {
    key_id: record.key_id,
    status: 'retiring',
    revoked_at: '2026-01-01T00:05:00.000Z',
    rotated_to: rotated.record.key_id
  })
  const { key_id, prefix, ...inherited } = rotated.record
  t.match(record, inherited, 'name, environment, scopes, list and expiry are inherited')
  t.not(key_id, record.key_id)
  t.not(prefix, record.prefix)
  house.clock.advance(299_999)
  t.equal(await works(house, key), true, 'at 299.999 s')
  house.clock.advance(1)
  t.equal(await works(house, key), false, 'at 300 s')
  t.match(await house.keys.get(operator, record.key_id), { status: 'revoked', revoked_at: '2026-01-01T00:05:00.000Z' })
  t.equal(await works(house, rotated.key), true)
  await t.rejects(house.keys.rotate(operator, record.key_id), { code: 'key_revoked', status: 409 })
})

t.test('the counters, the limit and the account follow the rotation', async (t) => {
  const house = await buildHouse(t)
  const { key, record } = await house.keys.create(operator, { name: 'a', rate_limit_per_minute: 3, max_concurrent: 4 })
  const next = await house.keys.rotate(operator, record.key_id)
  const last = await house.keys.rotate(operator, next.record.key_id)
  for (const text of [key, next.key, last.key]) {
    t.match(await callerOf(house, text), {
      lineage: record.key_id,
      accountId: 'default',
      limitPerMinute: 3,
      maxConcurrent: 4
    })
    const outcome = await house.admission.admit({
      headers: { 'x-api-key': text },
      address: '::1',
      scope: undefined,
      cost: 1
    })
    t.match(outcome, { limit: { allowed: true } })
  }
  const fourth = house.admission.admit({
    headers: { 'x-api-key': last.key },
    address: '::1',
    scope: undefined,
    cost: 1
  })
  t.match(await fourth, { code: 'rate_limit_exceeded' })
})

t.test('a grace never outlives the old expiry, and a revocation ends it at once', async (t) => {
  const house = await buildHouse(t)
  const expiring = await house.keys.create(operator, { name: 'a', expires_at: '2026-01-01T00:02:00Z' })
  const { previous, record } = await house.keys.rotate(operator, expiring.record.key_id)
  t.equal(previous.revoked_at, '2026-01-01T00:02:00.000Z')
  t.equal(record.expires_at, '2026-01-01T00:02:00.000Z', 'nor does the new key')
  house.clock.advance(119_999)
  t.equal(await works(house, expiring.key), true)
  house.clock.advance(1)
  t.equal(await works(house, expiring.key), false)

  const other = await house.keys.create(operator, { name: 'b' })
  await house.keys.rotate(operator, other.record.key_id)
  t.equal(await works(house, other.key), true)
  const revoked = await house.keys.revoke(operator, other.record.key_id)
  t.match(revoked, { status: 'revoked', revoked_at: '2026-01-01T00:02:00.000Z' })
  t.equal(await works(house, other.key), false)
})

t.test('an expired key stops at its moment and is not rotated', async (t) => {
  const house = await buildHouse(t)
  const { key, record } = await house.keys.create(operator, { name: 'a', expires_at: '2026-01-02T00:00:00Z' })
  house.clock.advance(day - 1)
  t.equal(await works(house, key), true)
  house.clock.advance(1)
  t.equal(await works(house, key), false)
  t.equal((await house.keys.get(operator, record.key_id)).status, 'expired')
  await t.rejects(house.keys.rotate(operator, record.key_id), { code: 'key_expired', status: 409 })
})

t.test('a revocation is final, repeatable, and survives a clock that steps back', async (t) => {
  const house = await buildHouse(t)
  const { key, record } = await house.keys.create(operator, { name: 'a' })
  const first = await house.keys.revoke(operator, record.key_id)
  t.match(first, { status: 'revoked', revoked_at: '2026-01-01T00:00:00.000Z' })
  house.clock.advance(minute)
  t.same(await house.keys.revoke(operator, record.key_id), first)
  house.clock.advance(-day)
  t.equal(await works(house, key), false)
  await t.rejects(house.keys.rotate(operator, record.key_id), { code: 'key_revoked' })
})

t.test('of 100 rotations at once one wins and the others are told that the key is retiring', async (t) => {
  for (const url of ['memory:', `sqlite:${join(t.testdir(), 'keys.db')}`]) {
    const storage = await openStorage({ url })
    const house = await buildHouse(t, { storage })
    t.teardown(() => storage.close())
    const { key, record } = await house.keys.create(operator, { name: 'a' })
    const results = await Promise.allSettled(
      Array.from({ length: 100 }, () => house.keys.rotate(operator, record.key_id))
    )
    const won = results.filter((result) => result.status === 'fulfilled')
    const lost = results.filter((result) => result.status === 'rejected')
    t.equal(won.length, 1, url)
    t.ok(lost.every(({ reason }) => reason.code === 'key_retiring'))
    t.equal((await house.keys.list(operator)).keys.length, 2)
    t.equal(await works(house, won[0]!.value.key), true)
    t.equal(await works(house, key), true, 'still in its grace')
    const revoked = await Promise.all(Array.from({ length: 100 }, () => house.keys.revoke(operator, record.key_id)))
    t.equal(new Set(revoked.map((record) => JSON.stringify(record))).size, 1, 'revocations all tell the same')
    t.equal(await works(house, key), false)
  }
})

t.test('a key without * manages itself, others of the account are refused, foreign ones are absent', async (t) => {
  const house = await buildHouse(t)
  const mine = await house.keys.create(operator, { name: 'mine', scopes: ['billing:read'] })
  const ours = await house.keys.create(operator, { name: 'ours' })
  const foreign = await house.keys.create({ ...operator, accountId: 'other' }, { name: 'foreign' })
  const self: Actor = await callerOf(house, mine.key)
  const lacksAll = { code: 'insufficient_scope', status: 403, fields: { required: '*', available: ['billing:read'] } }
  t.same(await house.keys.list(self), { keys: [await house.keys.get(operator, mine.record.key_id)] })
  await t.rejects(house.keys.create(self, { name: 'x', scopes: ['billing:read'] }), lacksAll)
  for (const name of ['get', 'revoke', 'rotate'] as const) {
    const act = (actor: Actor, id: string): Promise<unknown> => house.keys[name](actor, id)
    await t.rejects(act(self, ours.record.key_id), lacksAll, name)
    for (const id of [foreign.record.key_id, 'key_none', '', "' or 1=1"]) {
      await t.rejects(act(self, id), { code: 'not_found', status: 404 }, name)
      await t.rejects(act(operator, id), { code: 'not_found', status: 404 }, name)
    }
  }
  t.equal(await works(house, ours.key), true)
  t.equal(await works(house, foreign.key), true)
  const rotated = await house.keys.rotate(self, mine.record.key_id)
  t.equal((await house.keys.revoke(self, mine.record.key_id)).status, 'revoked')
  t.equal(await works(house, rotated.key), true)
  t.equal((await house.keys.list(operator)).keys.length, 3)
})

t.test('a key says whose hand it is: whoever created or rotated it over the API, or itself', async (t) => {
  const house = await buildHouse(t)
  const root = await house.keys.create(operator, { name: 'root' })
  const other = await house.keys.create(operator, { name: 'other' })
  const [rootCaller, otherCaller] = [await callerOf(house, root.key), await callerOf(house, other.key)]
  const child = await house.keys.create(rootCaller, { name: 'child' })
  t.match(child.record, { created_by: root.record.key_id, roots: [root.record.key_id], lineage: child.record.key_id })
  const grandchild = await house.keys.create(await callerOf(house, child.key), { name: 'grandchild' })
  t.match(grandchild.record, { created_by: child.record.key_id, roots: [root.record.key_id] })
  const taken = await house.keys.rotate(otherCaller, child.record.key_id)
  const { key_id, roots } = taken.record
  t.same(roots, [root.record.key_id, other.record.key_id], 'its owner, and who was shown it')
  t.match(taken.record, { created_by: other.record.key_id, lineage: child.record.key_id })
  const onCommandLine = await house.keys.rotate(operator, key_id)
  t.match(onCommandLine.record, { created_by: null, roots })
  const person = { accountId: 'default', scopes: ['*'], keyId: 'usr_a', lineage: 'usr_a', roots: ['usr_a'] } as const
  t.match((await house.keys.create(person, { name: 'p' })).record, { created_by: 'usr_a', roots: ['usr_a'] })
})

t.test('a key rotates itself where it may, its owner is told, and a lineage ends at once', async (t) => {
  const house = await buildHouse(t)
  const told: string[] = []
  const keys = new KeyService({
    keys: house.storage.keys,
    clock: house.clock,
    audit: house.storage.audit,
    invalidate: (prefix) => house.verifier.invalidate(prefix),
    notices({ old, successor }) {
      told.push(`${old.keyId} ${successor.keyId}`)
      return []
    }
  })
  const make = async (self_rotation: boolean | undefined, ...scopes: string[]) => {
    const { key, record } = await keys.create(operator, { name: 'k', scopes, self_rotation })
    return { record, key, caller: await callerOf(house, key) }
  }
  const [free, bound, entitled, all] = [
    await make(undefined, 'billing:read'),
    await make(false, 'billing:read'),
    await make(false, 'billing:read', 'keys:rotate'),
    await make(false, '*')
  ]
  t.equal(free.record.self_rotation, true)
  await t.rejects(keys.rotate(bound.caller, bound.record.key_id), {
    code: 'insufficient_scope',
    fields: { required: 'keys:rotate', available: ['billing:read'] },
    message: /administrator|command line/
  })
  t.equal(await works(house, bound.key), true)
  t.same(told, [])
  await t.rejects(
    keys.rotate(entitled.caller, bound.record.key_id),
    { code: 'insufficient_scope', fields: { required: '*' } },
    'itself alone'
  )
  const taken = await keys.rotate(free.caller, free.record.key_id)
  const rotated = await keys.rotate(entitled.caller, entitled.record.key_id)
  t.match(rotated.record, { self_rotation: false, scopes: ['billing:read', 'keys:rotate'] }, 'inherited')
  await keys.rotate(all.caller, all.record.key_id)
  t.equal(told.length, 3)
  await keys.rotate(all.caller, bound.record.key_id)
  t.equal(told.length, 3, 'by another hand is no rotation of its own')

  await house.storage.audit.flush()
  const rows = await house.storage.audit.read({ filter: { kind: 'key.rotated' }, limit: 9 })
  t.same(
    rows.map(({ data }) => (data as { self: boolean }).self),
    [true, true, true, false]
  )
  const lineage = free.record.key_id
  t.same(
    (await keys.list(operator, { lineage })).keys.map(({ key_id }) => key_id),
    // Made in one millisecond of a clock that stands: in the order of their ids.
    [lineage, taken.record.key_id].sort()
  )
  t.same((await keys.list(bound.caller, { lineage })).keys, [])
  await t.rejects(keys.revokeLineage(bound.caller, lineage), { code: 'insufficient_scope', fields: { required: '*' } })
  await t.rejects(keys.revokeLineage({ ...operator, accountId: 'other' }, lineage), { code: 'not_found' })
  await t.rejects(keys.revokeLineage(operator, taken.record.key_id), { code: 'not_found' }, 'the first key names it')
  for (const key of [free.key, taken.key]) t.equal(await works(house, key), true)
  const ended = await keys.revokeLineage(operator, lineage)
  t.match(ended.keys, [{ status: 'revoked' }, { status: 'revoked' }])
  for (const key of [free.key, taken.key]) t.equal(await works(house, key), false)
  t.equal(await works(house, rotated.key), true)
})

t.test('pages join to the whole list', async (t) => {
  const house = await buildHouse(t)
  for (let i = 0; i < 5; i++) {
    await house.keys.create(operator, { name: `key ${i}` })
    house.clock.advance(1)
  }
  const { keys: whole, ...rest } = await house.keys.list(operator)
  t.same(rest, {})
  t.same(
    whole.map(({ name }) => name),
    ['key 0', 'key 1', 'key 2', 'key 3', 'key 4']
  )
  const pages = []
  let cursor: string | undefined
  do {
    const page = await house.keys.list(operator, { limit: 2, cursor })
    pages.push(page.keys)
    cursor = page.next_cursor
  } while (cursor)
  t.same(pages, [whole.slice(0, 2), whole.slice(2, 4), whole.slice(4)])
  await t.rejects(house.keys.list(operator, { cursor: 'x' }), {
    code: 'validation_error',
    fields: { details: { field: 'query.cursor' } }
  })
})

t.test('the first key is made once, as given or new, and never where the store has keys', async (t) => {
  const given = generateKey('live')
  const fresh = await buildHouse(t)
  const first = await fresh.keys.ensureFirstKey({ bootstrapKey: given })
  t.match(first, { created: true, key: given, record: { scopes: ['*'], status: 'active' } })
  t.equal(await works(fresh, given), true)
  t.equal((await callerOf(fresh, given)).accountId, 'default')

  const record = (await fresh.keys.list(operator)).keys[0]!
  await fresh.keys.revoke(operator, record.key_id)
  t.same(await fresh.keys.ensureFirstKey({ bootstrapKey: given }), { created: false, ignored: true })
  t.same(await fresh.keys.ensureFirstKey(), { created: false, ignored: false })
  t.equal(await works(fresh, given), false, 'a revoked key is not revived')

  const other = await buildHouse(t)
  const made = await Promise.all(Array.from({ length: 10 }, () => other.keys.ensureFirstKey()))
  t.equal(made.filter(({ created }) => created).length, 1)
  t.match(
    made.find(({ created }) => created),
    { key: /^slg_live_/, record: { environment: 'live' } }
  )
  for (const malformed of ['', 'secret', given.slice(0, -1), `${given.slice(0, -1)}_`]) {
    const refused = other.keys.ensureFirstKey({ bootstrapKey: malformed })
    const error = await refused.then(
      () => undefined,
      (error: Error) => error
    )
    t.match(error?.message, /not a well-formed key/)
    if (malformed !== '') t.notMatch(error?.message, malformed)
  }
})

t.test('the last use is shown at once and stored in groups', async (t) => {
  const house = await buildHouse(t)
  const { key, record } = await house.keys.create(operator, { name: 'a' })
  const request = { headers: { 'x-api-key': key }, address: '::1', scope: undefined, cost: 0 }
  house.clock.advance(1000)
  await house.admission.admit(request)
  const stored = async () => (await house.storage.keys.get('default', record.key_id))!.lastUsedAt
  t.equal((await house.keys.get(operator, record.key_id)).last_used_at, '2026-01-01T00:00:01.000Z')
  t.equal(await stored(), null)
  await house.lastUsed.flush()
  t.equal(await stored(), house.clock.now())
  house.clock.advance(1000)
  await house.admission.admit(request)
  await house.lastUsed.close()
  t.equal(await stored(), house.clock.now(), 'closing loses none')
})
