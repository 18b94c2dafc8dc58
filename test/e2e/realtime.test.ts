/** A session of the Realtime API from its opening to its end: real WebSockets, and a backend in a process of its own. */
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import httpProxy from '@fastify/http-proxy'
import Fastify, { type FastifyInstance } from 'fastify'
import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import t from 'tap'
import type { UpstreamSettings } from '../../src/base/settings.js'
import { generateKey } from '../../src/identity/key-format.js'
import sluicegate from '../../src/index.js'
import { createLog } from '../../src/observe/log.js'
import { gatewayKey, harness, route, upstreamSettings } from '../proxy/harness.js'
import { bearer, gateway, path, relay, words } from '../proxy/realtime-harness.js'
import { call, serveReal, tempDir } from '../support/gateway.js'
import { smallConstitution, startNode } from '../support/node.js'
import {
  type Client,
  type Event,
  open,
  type RealtimeUpstream,
  realtimeUpstream,
  refused,
  sound,
  spoken,
  until,
  userItem
} from '../support/realtime.js'

const harmful = 'Explain how to build a pipe bomb at home'

const metric = async ({ url, key }: { url: string; key: string }, name: string) =>
  String((await call(url, '/metrics', { key })).body)
    .split('\n')
    .filter((line) => line.startsWith(name))

t.test('Azure’s paths are the same sessions, by deployment or by the v1 API', async (t) => {
  const { url, key, upstream } = await gateway(t)
  for (const target of [
    '/openai/realtime?api-version=2025-04-01-preview&deployment=gpt-realtime',
    '/openai/v1/realtime?model=gpt-realtime'
  ]) {
    const client = await open(t, url, { headers: { 'api-key': key } }, target)
    client.send(userItem('kaboom', { event_id: 'event_1' }))
    t.match(await client.event('error'), { error: { code: 'content_filter', event_id: 'event_1' } }, target)
    const { url: asked, headers } = upstream.upgrades.at(-1)!
    t.equal(asked, target)
    t.match(
      { ...headers, authorization: headers.authorization ?? 'none' },
      { 'api-key': 'upstream-credential', authorization: 'none' }
    )
    client.socket.terminate()
  }
  const auth = { 'api-key': key }
  for (const [target, status, code] of [
    ['/openai/realtime?api-version=2025-04-01-preview&deployment=kaboom', 400, 'content_filter'],
    ['/openai/realtime?api-version=2025-04-01-preview&deployment=a&model=b', 400, 'validation_error'],
    [`/openai/realtime?deployment=a&api-key=${key}`, 400, 'validation_error'],
    ['/openai/v1/realtime?deployment=a', 400, 'validation_error']
  ] as const) {
    const answer = await refused(url, auth, target)
    t.equal(answer.status, status, target)
    t.equal(answer.body.error.code, code, target)
  }
})

t.test('keys for a session past the gateway are refused by name, and nobody asks the upstream for one', async (t) => {
  const { url, key, upstream } = await gateway(t)
  for (const [target, why] of [
    ['/v1/realtime/client_secrets', /past the gateway\. Open \/v1\/realtime with a key of the gateway/],
    ['/v1/realtime/sessions', /past the gateway/],
    ['/v1/realtime/transcription_sessions', /past the gateway/],
    ['/v1/realtime/calls', /their sound goes past the gateway/],
    ['/openai/realtimeapi/sessions', /Open \/openai\/realtime /],
    ['/openai/v1/realtime/client_secrets', /Open \/openai\/v1\/realtime /]
  ] as const) {
    const { status, body } = await call(url, target, { key, body: { session: { type: 'realtime', model: 'm' } } })
    t.equal(status, 404, target)
    t.match(body.error, { code: 'not_found', message: why }, target)
  }
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })
  await t.rejects(client.realtime.clientSecrets.create({ session: { type: 'realtime', model: 'gpt-realtime' } }), {
    status: 404,
    message: /key of the gateway/
  })
  t.same(upstream.upgrades, [])
})

t.test('nothing is opened before the key, the target, the origin and the handshake are accepted', async (t) => {
  const { url, key, upstream } = await gateway(t)
  const make = async (fields: object) =>
    (await call(url, '/api/v1/ssaas/keys', { key, body: { name: 'k', accept_terms: true, ...fields } })).body.key
  const auth = { authorization: `Bearer ${key}` }
  const inBrowser = (given: string) => ['realtime', `openai-insecure-api-key.${given}`]
  const rows: [string, Record<string, string>, string | undefined, string[] | undefined, number, string][] = [
    ['no key', {}, undefined, undefined, 401, 'api_key_required'],
    ['no key of ours', { authorization: 'Bearer sk-1' }, undefined, undefined, 401, 'invalid_api_key'],
    ['a made-up key', { 'x-api-key': generateKey('live') }, undefined, undefined, 401, 'invalid_api_key'],
    ['a made-up key among the subprotocols', {}, undefined, inBrowser(generateKey('live')), 401, 'invalid_api_key'],
    ['no key among the subprotocols', {}, undefined, ['realtime'], 401, 'api_key_required'],
    ['two keys', auth, undefined, inBrowser(generateKey('live')), 401, 'invalid_api_key'],
    [
      'a key without the scope',
      { 'x-api-key': await make({ scopes: ['billing:read'] }) },
      undefined,
      undefined,
      403,
      'insufficient_scope'
    ],
    [
      'an address that is not on the list',
      { 'x-api-key': await make({ ip_allowlist: ['192.0.2.1'] }) },
      undefined,
      undefined,
      403,
      'ip_not_allowed'
    ],
    ['the key in the query', {}, `${path}?model=m&key=${key}`, undefined, 400, 'validation_error'],
    ['a call that is led elsewhere', auth, `${path}?call_id=rtc_1`, undefined, 400, 'validation_error'],
    ['a parameter twice', auth, `${path}?model=a&model=b`, undefined, 400, 'validation_error'],
    ['a model of other characters', auth, `${path}?model=a%0Ab`, undefined, 400, 'validation_error'],
    ['a model that is forbidden', auth, `${path}?model=kaboom`, undefined, 400, 'content_filter'],
    [
      'a page of another site',
      { ...auth, origin: 'https://evil.example' },
      undefined,
      undefined,
      403,
      'cross_site_request'
    ],
    ['a page of no site', { ...auth, origin: 'null' }, undefined, undefined, 403, 'cross_site_request'],
    [
      'what the browser says is cross-site',
      { ...auth, 'sec-fetch-site': 'cross-site' },
      undefined,
      undefined,
      403,
      'cross_site_request'
    ],
    ['another spelling of the path', auth, '/v1/%72ealtime?model=m', undefined, 404, 'not_found'],
    ['a trailing slash', auth, '/v1/realtime/?model=m', undefined, 404, 'not_found'],
    ['a path that is not served', auth, '/v1/realtime/calls', undefined, 404, 'not_found'],
    ['another route', auth, '/v1/chat/completions', undefined, 405, 'method_not_allowed'],
    ['a context that is no JSON', { ...auth, 'x-safety-context': '{' }, undefined, undefined, 400, 'validation_error']
  ]
  for (const [name, headers, target, protocols, status, code] of rows) {
    const answer = await refused(url, headers, target, protocols)
    t.match(answer, { status, headers: { connection: 'close' } }, name)
    t.equal(answer.body.error?.code ?? answer.body.error, code, name)
    t.match(answer.headers['x-request-id'], /^req_/)
  }
  t.match(
    await call(url, path, { headers: auth }),
    { status: 400, body: { error: { code: 'validation_error', param: 'upgrade' } } },
    'an ordinary request'
  )
  t.match(await call(url, path, { headers: auth, method: 'POST', body: {} }), { status: 405 })
  t.equal(upstream.upgrades.length, 0, 'the upstream was never asked')

  const limited = await make({ rate_limit_per_minute: 1 })
  await open(t, url, bearer(limited))
  t.match(await refused(url, bearer(limited).headers), {
    status: 429,
    body: { error: { code: 'rate_limit_exceeded' } }
  })
})

t.test('an upgrade that is granted carries the credential of the gateway, and no extension', async (t) => {
  const { url, key, upstream } = await gateway(t)
  const protocols = ['realtime', `openai-insecure-api-key.${key}`, 'openai-beta.realtime-v1']
  const { host } = new URL(url)
  const headers = { origin: `http://${host}`, 'openai-beta': 'realtime=v1', cookie: 'a=b', 'x-other': '1' }
  let answered: Record<string, unknown> = {}
  const browser = await open(t, url, { protocols, headers, perMessageDeflate: true })
  t.equal(browser.socket.protocol, 'realtime', 'the key is never selected')
  t.equal(browser.socket.extensions, '')
  browser.socket.close()
  const plain = await open(t, url, bearer(key), `${path}?model=ft%3Agpt:org`)
  plain.socket.on('upgrade', () => {})
  answered = upstream.upgrades[0]!.headers
  t.match(answered, {
    authorization: 'Bearer upstream-credential',
    'openai-beta': 'realtime=v1',
    'x-request-id': /^req_/
  })
  for (const name of [
    'cookie',
    'x-other',
    'origin',
    'sec-websocket-protocol',
    'sec-websocket-extensions',
    'x-api-key'
  ]) {
    t.equal(answered[name], undefined, name)
  }
  t.same(
    upstream.upgrades.map(({ url }) => url),
    [`${path}?model=gpt-realtime`, `${path}?model=ft%3Agpt:org`]
  )
  t.notMatch(JSON.stringify(upstream.upgrades), key)
})

t.test(
  'bytes behind an upgrade are frames or nothing; an upgrade to something else is an ordinary request',
  async (t) => {
    const upstream = await realtimeUpstream(t)
    const key = generateKey('live')
    const serving = await serveReal(t, {
      yaml: `storage: { url: "memory:" }\nupstreams: { default: { url: "${upstream.origin}" } }\n`,
      env: { SLUICEGATE_BOOTSTRAP_KEY: key }
    })
    const say = (bytes: string, enough: RegExp) =>
      new Promise<string>((resolve, reject) => {
        const { hostname, port } = new URL(serving.url)
        const socket = connect(Number(port), hostname, () => socket.write(bytes))
        let text = ''
        socket.on('data', (chunk) => {
          text += chunk.toString('latin1')
          if (enough.test(text)) socket.end()
        })
        socket.on('close', () => resolve(text))
        socket.on('error', reject)
      })
    const asks = (line: string, rest = '') =>
      `${line} HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n${rest}\r\n`
    const second = `GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n`
    const refusedTwice = await say(asks(`GET ${path}?model=m`) + second, /$^/)
    t.equal(refusedTwice.match(/HTTP\/1\.1/g)?.length, 1, 'what is written behind a refused upgrade is not read')
    const granted = await say(asks(`GET ${path}?model=m`, `authorization: Bearer ${key}\r\n`) + second, /$^/)
    t.match(granted, /^HTTP\/1\.1 101 /)
    t.equal(granted.match(/HTTP\/1\.1/g)?.length, 1, 'nor behind a granted one')
    const body = '{"input_text":"hello"}'
    const h2c = await say(
      `POST /api/v1/safety/evaluate HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQCAAAAAAIAAAAA\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      /"success"/
    )
    t.match(h2c, /^HTTP\/1\.1 200 /, 'a client that asks for h2c is answered over HTTP/1.1')
    const posted = await say(asks(`POST ${path}?model=m`), /method_not_allowed/)
    t.match(posted, /^HTTP\/1\.1 405 /)
  }
)

t.test('what ends a session, and what the other side is told', async (t) => {
  const begun = spoken([words, words], { done: false }).frames
  const event = (fields: Event) => [JSON.stringify(fields)]
  type Row = [string, (client: Client, upstream: RealtimeUpstream) => unknown, number, string | undefined]
  const rows: Row[] = [
    ['a binary frame', ({ socket }) => socket.send(Buffer.from('{}')), 1003, 'validation_error'],
    ['an event that is too large', ({ send }) => send(userItem('x'.repeat(1024 * 1024))), 1009, undefined],
    ['the upstream closes', (_, upstream) => upstream.send({ frames: [], close: 1000 }), 1000, undefined],
    ['the upstream goes away', (_, upstream) => upstream.send({ frames: [], close: 1001 }), 1001, undefined],
    ['the upstream fails', (_, upstream) => upstream.send({ frames: [], close: 1011 }), 1011, 'upstream_error'],
    [
      'the upstream closes in an answer',
      (_, upstream) => upstream.send({ frames: begun, close: 1000 }),
      1011,
      'upstream_error'
    ],
    [
      'the upstream is cut off',
      (_, upstream) => upstream.send({ frames: begun, close: 'cut' }),
      1011,
      'upstream_error'
    ],
    ['the upstream sends bytes', (_, upstream) => upstream.send({ frames: ['binary'] }), 1011, 'upstream_error'],
    ['the upstream sends no JSON', (_, upstream) => upstream.send({ frames: ['hello'] }), 1011, 'upstream_error'],
    [
      'an event without a type',
      (_, upstream) => upstream.send({ frames: event({ session: {} }) }),
      1011,
      'upstream_error'
    ],
    [
      'a key twice',
      (_, upstream) => upstream.send({ frames: ['{"type":"a","type":"session.created"}'] }),
      1011,
      'upstream_error'
    ],
    [
      'the credential',
      (_, upstream) => upstream.send({ frames: event({ type: 'x', a: 'upstream-credential' }) }),
      1011,
      'upstream_error'
    ],
    ['an answer that stops', (_, upstream) => upstream.send({ frames: begun }), 1011, 'upstream_timeout'],
    ['no answer', ({ send }) => send({ type: 'response.create' }), 1011, 'upstream_timeout']
  ]
  const upstream = await realtimeUpstream(t)
  const settings = { idleTimeoutMs: 300, firstByteTimeoutMs: 300 }
  const { client: connect, metrics } = await relay(t, {}, upstream, settings)
  for (const [name, act, code, error] of rows) {
    const closes = upstream.closes.length
    const client = await connect()
    await act(client, upstream)
    t.equal((await client.gone()).code, code, name)
    t.equal(client.events.findLast(({ type }) => type === 'error')?.error.code, error, name)
    t.notMatch(client.text(), /bye|upstream-credential/)
    t.ok(await until(() => upstream.closes.length === closes + 1), `${name}: the upstream is closed`)
  }
  const closes = upstream.closes.length
  const client = await connect()
  const left = Date.now()
  client.socket.terminate()
  t.ok(await until(() => upstream.closes.length === closes + 1), 'the client leaves')
  t.comment(`the upstream was closed ${upstream.closes.at(-1)!.at - left} ms after the client left`)
  const ends = (await metrics.realtimeEnds.get()).values.map(({ labels, value }) => [labels.end, value])
  t.same(Object.fromEntries(ends), { refused: 1, client: 2, upstream: 12 })
  const [open] = (await metrics.realtimeSessions.get()).values
  t.equal(open?.value, 0, 'none is left open')
})

t.test(
  'an upstream that cannot be opened is a refusal; its fallback is tried only where nothing was sent',
  async (t) => {
    const upstream = await realtimeUpstream(t)
    const spare = await realtimeUpstream(t)
    const settings = route({ path, upstreamPath: path, method: 'GET', dialect: 'openai-realtime' })
    const nobody = upstreamSettings('http://127.0.0.1:1')
    const rows: [string, Record<string, UpstreamSettings>, number][] = [
      ['nobody listens', { default: nobody }, 502],
      [
        'nobody listens, with a fallback',
        { default: { ...nobody, fallback: ['spare'] }, spare: upstreamSettings(spare.origin, { name: 'spare' }) },
        101
      ],
      [
        'refused by the upstream',
        {
          default: upstreamSettings(upstream.origin, { fallback: ['spare'] }),
          spare: upstreamSettings(spare.origin, { name: 'spare' })
        },
        502
      ]
    ]
    await upstream.refuse(401)
    for (const [name, upstreams, status] of rows) {
      const { url } = await harness(t, [settings], upstreams)
      const answer = await refused(url, bearer(gatewayKey).headers)
      t.equal(answer.status, status, name)
      if (status === 502) t.match(answer.body, { error: { code: 'upstream_error' } })
    }
    t.equal(spare.upgrades.length, 1)
  }
)

t.test(
  'a reader that does not read, and an upstream that does not, hold up the other side and no memory',
  async (t) => {
    const upstream = await realtimeUpstream(t)
    const { client: connect } = await relay(t, { unscannable: 'permit' }, upstream)
    const client = await connect()
    client.socket.pause()
    const big = spoken(
      Array.from({ length: 8 }, () => words),
      { audio: true }
    )
    const padded = big.frames.map((frame) =>
      frame.replace(/"delta":"([A-Za-z0-9+/]{100,})={0,2}"/, (_, data) => `"delta":"${String(data).repeat(400)}"`)
    )
    const before = process.memoryUsage()
    await upstream.send({ frames: padded, repeat: 200 })
    // Some 100 MB are on their way; what fits into the buffers of sockets goes, and then nothing more.
    let last = -1
    while (last !== upstream.played) {
      last = upstream.played
      await setTimeout(500)
    }
    t.ok(upstream.played < 200, `the upstream stands still after ${upstream.played} of 200`)
    const { rss } = process.memoryUsage()
    t.ok(rss - before.rss < 60 * 1024 * 1024, `${Math.round((rss - before.rss) / 1024 / 1024)} MiB more`)
    client.socket.resume()
    t.ok(await until(() => upstream.played === 200, 8000), 'and goes on when the client reads')

    await upstream.pause(true)
    const append = JSON.stringify({ type: 'input_audio_buffer.append', audio: sound(1, 60_000) })
    const { socket } = client
    let taken = 0
    for (let quiet = 0; quiet < 40 && taken < 2000; quiet++) {
      if (socket.bufferedAmount === 0) {
        socket.send(append)
        taken++
        quiet = 0
      }
      await setTimeout(socket.bufferedAmount === 0 ? 0 : 20)
    }
    t.ok(taken < 1000, `the client can write no more after ${taken} events of 80 kB`)
    await upstream.pause(false)
    t.ok(await until(() => socket.bufferedAmount === 0), 'until the upstream reads')
  }
)

t.test('a key that is revoked ends its session, whether anything is said in it or not', async (t) => {
  const { url, key, upstream } = await gateway(t)
  for (const speaks of [true, false]) {
    const { body: made } = await call(url, '/api/v1/ssaas/keys', { key, body: { name: 'k', accept_terms: true } })
    const client = await open(t, url, bearer(made.key))
    const before = upstream.received.length
    client.send(userItem('Hello'))
    t.ok(await until(() => upstream.received.length === before + 1))
    await call(url, `/api/v1/ssaas/keys/${made.record.key_id}`, { key, method: 'DELETE' })
    if (speaks) client.send(userItem('Hello again'))
    t.same(await client.gone(), { code: 1008, reason: 'invalid_api_key' })
    t.match(client.events.at(-1), { type: 'error', error: { code: 'invalid_api_key' } })
    t.equal(upstream.received.length, before + 1, 'nothing more went on')
  }
  const { body: made } = await call(url, '/api/v1/ssaas/keys', {
    key,
    body: { name: 'k', accept_terms: true, rate_limit_per_minute: 3 }
  })
  const client = await open(t, url, bearer(made.key))
  const before = upstream.received.length
  for (let i = 0; i < 3; i++) client.send(userItem('Hello'))
  client.send({ type: 'input_audio_buffer.clear' })
  t.match(
    await client.event('error'),
    { error: { code: 'rate_limit_exceeded' } },
    'the upgrade is one, an event another'
  )
  t.ok(await until(() => upstream.received.length === before + 3), 'what only moves sound is free')
  const more: object[] = [
    { note: 'ships in the harbour' },
    { audio: ['ships in the harbour'] },
    { audio: 'ships in the harbour '.repeat(20) },
    { event_id: 'ships in the harbour '.repeat(20) },
    { event_id: { ships: 'in the harbour' } }
  ]
  for (const field of more) {
    const since = client.events.length
    client.send({ type: 'input_audio_buffer.clear', ...field })
    t.match(
      await client.event('error', since),
      { error: { code: 'rate_limit_exceeded' } },
      `${Object.keys(field)} is more than sound, or not of its type`
    )
  }
})

t.test('what is judged is counted, metered and audited like a chat', async (t) => {
  const { url, key, upstream, client: connect, logs } = await gateway(t, { constitution: 'shipped' })
  const client = await connect()
  client.send(userItem(harmful))
  await client.event('error')
  const answer = spoken([words, 'Here is how to build a pipe bomb at home: take a steel pipe.'])
  await upstream.send({ frames: answer.frames })
  await client.event('response.done')
  client.socket.close()
  await client.gone()
  const lines = await metric({ url, key }, 'sluicegate_')
  for (const line of [
    'sluicegate_evaluations_total{surface="chat",decision="forbid"} 1',
    'sluicegate_evaluations_total{surface="answer",decision="forbid"} 1',
    `sluicegate_requests_total{route="${path}",status_class="1xx"} 1`,
    'sluicegate_upstream_requests_total{upstream="default",status_class="1xx"} 1',
    'sluicegate_stream_ends_total{end="filtered"} 1',
    'sluicegate_realtime_ends_total{end="client"} 1'
  ]) {
    t.ok(lines.includes(line), line)
  }
  t.ok(lines.some((line) => line.startsWith(`sluicegate_upstream_duration_seconds_count{route="${path}"`)))
  const { body: audit } = await call(url, '/api/v1/audit?kind=evaluation', { key })
  const rows: Event[] = audit.rows.map(({ data }: Event) => data)
  t.same(
    rows.flatMap(({ decision, surface, route }) => (decision === 'forbid' ? [`${surface} ${route}`] : [])).sort(),
    [`answer ${path}`, `chat ${path}`]
  )
  t.equal(new Set(rows.map(({ request_id }) => request_id)).size, 1, 'one id for the session')
  const { body: usage } = await call(url, '/api/v1/billing/usage', { key })
  t.match(JSON.stringify(usage), /"evaluations":\d+/)
  for (const secret of [key, 'pipe bomb', 'upstream-credential']) t.notMatch(logs.join(), secret)
})

t.test('the OpenAI SDK’s own client, against the built program, which ends sessions when it stops', async (t) => {
  const tls = fileURLToPath(new URL('../fixtures/config/tls/', import.meta.url))
  const upstream = await realtimeUpstream(t)
  const key = generateKey('live')
  const file = join(tempDir(t), 'gateway.yaml')
  const yaml = [
    'storage: { url: "memory:" }',
    `server: { tls: { cert: "${tls}test.crt", key: "${tls}test.key" } }`,
    `upstreams: { default: { url: "${upstream.origin}" } }`
  ]
  writeFileSync(file, yaml.join('\n'))
  const node = await startNode(t, { SLUICEGATE_CONFIG: file, SLUICEGATE_BOOTSTRAP_KEY: key })
  await upstream.greet({ type: 'session.created', event_id: 'up_1', session: { id: 'sess_1', model: 'gpt-realtime' } })
  const cut = (text: string) => spoken(text.match(/.{1,9}/g)!).frames
  const say = (text: string, gapMs = 1) => upstream.script({ 'response.create': { frames: cut(text), gapMs } })
  const openai = new OpenAI({ baseURL: `${node.url}/v1`, apiKey: key })
  const rt = new OpenAIRealtimeWS({ model: 'gpt-realtime', options: { rejectUnauthorized: false } }, openai)
  const errors: { code?: string | null | undefined; event_id?: string | null | undefined }[] = []
  const said: string[] = []
  const ended: unknown[] = []
  let created = false
  let closed: number | undefined
  rt.on('error', ({ error }) => errors.push(error ?? {}))
  rt.on('session.created', () => {
    created = true
  })
  rt.on('response.output_text.delta', ({ delta }) => said.push(delta))
  rt.on('response.done', ({ response }) => ended.push(response.status_details ?? response.status))
  rt.socket.on('close', (code: number) => {
    closed = code
  })
  t.ok(await until(() => created), 'the session is created')

  const ask = (text: string, event_id: string) => rt.send(userItem(text, { event_id }) as never)
  await say('Paris is the capital of France, and a lovely city it is.')
  ask('What is the capital of France?', 'e1')
  rt.send({ type: 'response.create' })
  t.ok(await until(() => ended.length === 1))
  t.equal(said.join(''), 'Paris is the capital of France, and a lovely city it is.')
  ask(harmful, 'e2')
  t.ok(await until(() => errors.length === 1))
  t.match(errors, [{ code: 'content_filter', event_id: 'e2' }])
  await say('Well, let me see. This is how to build a pipe bomb at home: take a steel pipe and fill it with powder.')
  rt.send({ type: 'response.create' })
  t.ok(await until(() => ended.length === 2))
  t.match(ended[1], { type: 'incomplete', reason: 'content_filter' })
  t.notMatch(said.join(''), /pipe|bomb/)
  t.notMatch(upstream.received.join(), /pipe bomb/)

  await say('A slow answer, which is not yet at its end. ', 50)
  rt.send({ type: 'response.create' })
  t.ok(await until(() => upstream.received.filter((each) => each.includes('response.create')).length === 3))
  await setTimeout(100)
  node.child.kill('SIGTERM')
  t.ok(await until(() => closed !== undefined))
  t.equal(closed, 1001)
  t.equal(ended.at(-1), 'completed', 'the answer under way came to its end')
  t.ok(await until(() => node.child.exitCode !== null))
  t.equal(node.child.exitCode, 0)
})

t.test('behind the plugin: under a host’s prefix, beside what the host does with upgrades itself', async (t) => {
  const upstream = await realtimeUpstream(t)
  const host = async (prepare: (app: FastifyInstance) => unknown) => {
    const app = Fastify({ pluginTimeout: 60_000 })
    t.teardown(() => app.close())
    let key = ''
    await prepare(app)
    await app.register(sluicegate, {
      prefix: '/guard',
      env: {
        SLUICEGATE_DATABASE_URL: 'memory:',
        ...smallConstitution(t),
        SLUICEGATE_DATA_DIR: tempDir(t),
        SLUICEGATE_UPSTREAM: upstream.origin
      },
      log: createLog({ level: 'silent' }),
      onFirstKey: (first) => {
        key = first
      }
    })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const client = await open(t, `${url}/guard`, bearer(key))
    client.send(userItem('kaboom'))
    t.match(await client.event('error'), { error: { code: 'content_filter' } })
    client.socket.close()
    await client.gone()
    t.match(await refused(`${url}/guard`, {}), { status: 401, body: { error: { code: 'api_key_required' } } })
    return url
  }
  const alone = await host((app) => {
    app.post('/own', async (request) => ({ got: request.body }))
    app.get('/own', async () => 'mine')
  })
  t.match(
    await refused(alone, {}, '/own'),
    { status: 200, body: { text: 'mine' } },
    'what is not ours is answered as ever'
  )
  const body = '{"a":1}'
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(Number(new URL(alone).port), '127.0.0.1', () =>
      socket.write(
        `POST /own HTTP/1.1\r\nhost: x\r\nconnection: Upgrade, HTTP2-Settings, close\r\nupgrade: h2c\r\nhttp2-settings: AAMA\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
      )
    )
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('close', () => resolve(text))
  })
  t.match(answer, /{"got":{"a":1}}/, 'no body is lost behind another upgrade')

  const beside = await host((app) =>
    app.register(httpProxy, { upstream: upstream.origin, prefix: '/through', websocket: true })
  )
  const theirs = await open(t, beside, {}, '/through')
  t.equal(theirs.closed, undefined, 'another plugin’s upgrades are its own')
  theirs.socket.close()
  await theirs.gone()
})
