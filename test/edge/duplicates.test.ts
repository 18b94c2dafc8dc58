import t from 'tap'
import { mostRemembered, rememberedMs } from '../../src/edge/duplicates.js'
import { steppedClock } from '../identity/support.js'
import { build, call } from '../support/gateway.js'

const path = '/api/v1/ssaas/keys'
const wanted = { name: 'ci', scopes: ['safety:evaluate'], accept_terms: true }

t.test('a request that names itself takes effect once', async (t) => {
  const clock = steppedClock()
  const { url, key } = await build(t, { clock })
  const send = (name: string, body: object = wanted, by = key) =>
    call(url, path, { key: by, body, headers: { 'idempotency-key': name } })
  const count = async () => (await call(url, path, { key })).body.keys.length

  const before = await count()
  const answers = await Promise.all(Array.from({ length: 20 }, () => send('first')))
  t.equal(answers.filter(({ status }) => status === 201).length, 1, 'of twenty at once one')
  const refused = answers.find(({ status }) => status !== 201)
  t.match(refused, { status: 409, body: { error: 'duplicate_request', request_id: String } })
  t.notMatch(JSON.stringify(refused?.body), /slg_/, 'the key is shown to the first alone')
  t.equal(await count(), before + 1)

  t.equal((await send('second')).status, 201, 'another name is another request')
  t.equal((await send('third', { ...wanted, name: 7 })).status, 400, 'what is not valid did nothing')
  t.equal((await send('third')).status, 201, 'and is sent again when it is')
  for (const name of ['', 'ö', 'a b', 'x'.repeat(256)]) {
    const { status, body } = await send(encodeURI(name) === name ? name : 'a b')
    t.equal(status, 400)
    t.equal(body.details.field, 'idempotency-key')
  }

  const other = (await send('fourth', { ...wanted, scopes: ['*'] })).body
  t.equal((await send('first', wanted, other.key)).status, 201, 'names belong to whoever uses them')
  const rotate = (id: string) =>
    call(url, `${path}/${id}/rotate`, { key, method: 'POST', headers: { 'idempotency-key': 'first' } })
  t.equal((await rotate(other.record.key_id)).status, 201, 'and to what they are for')
  t.equal((await rotate(other.record.key_id)).body.error, 'duplicate_request', 'before it looks what the key is now')
  t.equal((await call(url, path, { key, headers: { 'idempotency-key': 'first' } })).status, 200, 'reads are free')

  clock.advance(rememberedMs + 1)
  t.equal((await send('first')).status, 201, 'it is forgotten in time')
})

t.test('what is remembered for a caller is bounded, whatever its requests are answered', async (t) => {
  const clock = steppedClock()
  const { url, key } = await build(t, { clock })
  const [{ key_id: own }] = (await call(url, path, { key })).body.keys
  const made = (await call(url, path, { key, body: wanted })).body.key
  // Refused after its name was remembered: the key may rotate no other.
  const send = (name?: string, by = made) =>
    call(url, `${path}/${own}/rotate`, {
      key: by,
      method: 'POST',
      headers: name === undefined ? {} : { 'idempotency-key': name }
    })

  const answers = new Set<number>()
  for (let i = 0; i < mostRemembered; i++) answers.add((await send(`n${i}`)).status)
  t.same([...answers], [403])
  clock.advance(60_000)
  const { status, body, headers } = await send('one-more')
  t.equal(status, 429)
  t.match(body, {
    error: 'rate_limit_exceeded',
    message: /2000 requests with an Idempotency-Key in 10 minutes/,
    retry_after: 540
  })
  t.equal(headers.get('retry-after'), '540')
  t.equal((await send('n0')).body.error, 'duplicate_request', 'a repetition is told what it is')
  t.equal((await send()).status, 403, 'without a name a request goes on')
  t.equal((await send('one-more', key)).status, 201, 'and another key has its own count')
  clock.advance(540_000)
  t.equal((await send('one-more')).status, 403, 'the first are forgotten in time')
})

t.test('the document says where', async (t) => {
  const { url } = await build(t)
  const { paths } = (await call(url, '/openapi.json')).body
  t.match(paths[path].post, {
    description: /Idempotency-Key/,
    responses: { 409: { description: /duplicate_request/ }, 429: { description: /rate_limit_exceeded/ } }
  })
  t.notOk(paths[path].get.responses['409'])
  t.match(paths[`${path}/{key_id}/rotate`].post.responses['409'].description, /key_retiring.*duplicate_request/)
  t.notMatch(paths['/api/v1/safety/evaluate'].post.description ?? '', /Idempotency-Key/)
})
