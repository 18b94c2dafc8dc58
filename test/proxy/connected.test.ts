/** Backends that administrators connect: which addresses are refused, by literal and by name, and who may not connect one. */
import t from 'tap'
import { guardedLookup, isRefusedHost } from '../../src/proxy/upstream/addresses.js'
import { modelsOf } from '../../src/proxy/upstream/models.js'
import { openMemory } from '../../src/storage/sqlite/open.js'
import { build, call } from '../support/gateway.js'
import { fakeUpstream, json } from '../support/upstream.js'

t.test('link-local addresses and metadata services are refused in every spelling', async (t) => {
  const refused = [
    '169.254.169.254',
    '[fe80::1]',
    '[::ffff:169.254.169.254]',
    '[64:ff9b::a9fe:a9fe]',
    '[fd00:ec2::254]'
  ]
  for (const host of [...refused, '0.0.0.0', '100.100.100.200']) t.ok(isRefusedHost(host), host)
  for (const host of ['127.0.0.1', '[::1]', '10.0.0.7', '192.168.1.5', 'example.com'])
    t.notOk(isRefusedHost(host), host)
  // Spellings that a URL normalises.
  for (const url of ['http://2852039166/', 'http://0xa9.0xfe.0xa9.0xfe/', 'http://169.254.43518/'])
    await t.rejects(
      modelsOf({ url, api: 'openai', key: undefined }),
      { code: 'validation_error', message: /link-local/ },
      url
    )
  const found = await new Promise((resolve) =>
    guardedLookup('localhost', { all: true }, (_error, addresses) => resolve(addresses))
  )
  t.ok(Array.isArray(found) && found.length > 0, 'a name of this machine is a backend’s')
})

t.test('the check follows no redirect, and shows nothing but ids', async (t) => {
  const redirecting = await fakeUpstream(t, json({}, 302, { location: 'http://127.0.0.1:1/' }))
  const asked = (url: string) => modelsOf({ url, api: 'openai', key: 'k' })
  await t.rejects(asked(redirecting.url), { message: /redirects \(302\)/ })
  const other = await fakeUpstream(t, json({ secret: 'AKIA0123456789' }))
  await t.rejects(asked(other.url), { message: /has no list of models/ })
  const odd = await fakeUpstream(t, json({ data: [{ id: 'b' }, { id: 'a' }, { id: 'a b' }, { id: 7 }, null] }))
  t.same(await asked(odd.url), ['a', 'b'])
})

t.test(
  'no key connects a backend, whatever its scopes; a program that the gateway is part of names its own',
  async (t) => {
    const { url, key } = await build(t)
    const body = { url: 'http://127.0.0.1:1', api: 'openai' }
    const headers = { 'x-sluicegate-csrf': '1' }
    const refused = await call(url, '/api/v1/upstreams/default', { key, method: 'PUT', body, headers })
    t.match(refused, { status: 401, body: { error: 'sign_in_required' } })
    t.match((await call(url, '/api/v1/upstreams', { key })).body, { upstreams: [], closed: /names its backends/ })
  }
)

t.test('versions: the newest counts, an older one keeps no key, of two at once one is refused', async (t) => {
  const { upstreams } = await openMemory()
  const row = { account: 'a', name: 'default', url: 'http://x', api: 'openai' as const, at: 1, by: null }
  const sealedKey = Buffer.from('sealed')
  t.equal(await upstreams.put({ ...row, upstreamId: 'ups_1', version: 1, sealedKey }), true)
  t.equal(await upstreams.put({ ...row, upstreamId: 'ups_2', version: 1, sealedKey }), false)
  t.equal(await upstreams.put({ ...row, upstreamId: 'ups_3', version: 2, url: null, sealedKey: null }), true)
  t.match(await upstreams.newest('a'), [{ upstreamId: 'ups_3', version: 2, url: null }])
  t.same(await upstreams.newest('b'), [])
})
