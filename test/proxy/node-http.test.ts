import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import HttpProxy from 'http-proxy'
import t from 'tap'
import type { RouteSettings, UpstreamSettings } from '../../src/base/settings.js'
import { boundaryOf, readForm } from '../../src/dialects/form.js'
import { UnderWay } from '../../src/edge/under-way.js'
import { createNodeGuard, type NodeGuard } from '../../src/proxy/faces/node-http.js'
import {
  chunks,
  completion,
  fakeUpstream,
  json,
  nowhere,
  raw,
  reset,
  sse,
  sseText,
  stall
} from '../support/upstream.js'
import { type Answered, admission, buildProxy, chat, gatewayKey, route, shown, upstreamSettings } from './harness.js'

type Next = (guard: NodeGuard, req: IncomingMessage, res: ServerResponse) => void

/** A program of its own, with its own http-proxy server, that puts the guard in front. */
async function program(
  t: Tap,
  routes: RouteSettings[],
  upstreams: Record<string, UpstreamSettings>,
  handle: Next = (guard, req, res) => guard(req, res)
) {
  const parts = buildProxy(t, routes, upstreams)
  const proxy = HttpProxy.createProxyServer({ target: 'http://127.0.0.1:9', xfwd: true, timeout: 500 })
  const guard = createNodeGuard({
    chat: parts.proxy,
    admission: admission as never,
    proxy,
    clientAddress: (peer) => peer,
    nextRequestId: () => 'req_1',
    underWay: new UnderWay(60_000, () => {})
  })
  const server = createServer((req, res) => handle(guard, req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const post = (
    body: unknown,
    headers: Record<string, string> = {},
    path = '/v1/chat/completions'
  ): Promise<Answered> =>
    fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${gatewayKey}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body)
    })
  return { ...parts, url, post }
}
type Tap = { teardown(fn: () => unknown): unknown }

t.test('the same guard in front of an http-proxy server', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello'), 200, { 'set-cookie': 'a=b', 'openai-model': 'm-1' }))
  const path = '/llm/v1/chat/completions'
  const gateway = await program(
    t,
    [route(), route({ path, upstreamPath: '/v1/chat/completions', redact: ['personal_data'] })],
    {
      default: upstreamSettings(`${upstream.url}/v1`)
    }
  )
  const response = await gateway.post(chat('hi'), {
    cookie: 'a=b',
    'x-forwarded-for': '1.1.1.1',
    connection: 'keep-alive'
  })
  t.equal(response.status, 200)
  t.same(await response.json(), completion('hello'))
  t.match(Object.fromEntries(response.headers), {
    'x-safety-decision': 'permit',
    'x-request-id': 'req_1',
    'x-ratelimit-limit': '100',
    'openai-model': 'm-1'
  })
  t.equal(response.headers.get('set-cookie'), null)
  const sent = upstream.requests[0]!
  t.equal(sent.body.toString(), JSON.stringify(chat('hi')))
  t.equal(sent.url, '/v1/chat/completions')
  t.match(sent.headers, { authorization: 'Bearer upstream-credential', host: new URL(upstream.url).host })
  t.same(
    Object.keys(sent.headers).filter((name) => /cookie|forwarded/.test(name)),
    []
  )

  t.equal((await gateway.post(chat('mail me@example.com'), {}, path)).status, 200)
  t.equal(JSON.parse(upstream.requests[1]!.body.toString()).messages[0].content, 'mail <PERSONAL_DATA>')
  t.equal(upstream.requests[1]!.url, '/v1/chat/completions')

  upstream.requests.length = 0
  for (const [text, status, code] of [
    ['forbidme', 400, 'content_filter'],
    ['divertme', 403, 'review_required'],
    ['askme', 422, 'context_required'],
    ['crashme', 503, 'evaluator_unavailable']
  ] as const) {
    const refused = await gateway.post(chat(text))
    t.equal(refused.status, status)
    t.equal((await refused.json()).error.code, code)
  }
  t.equal(upstream.requests.length, 0)

  upstream.answer = json(completion('so forbidme'))
  t.equal((await (await gateway.post(chat('hi'))).json()).choices[0].finish_reason, 'content_filter')
  upstream.answer = sse(sseText(chunks('hel', 'lo')), { piece: 7 })
  t.equal(shown(await (await gateway.post(chat('hi', { stream: true }))).text()), 'hello')
  // What comes together is judged together.
  upstream.answer = sse(sseText(chunks(...Array(20).fill('word '), 'forbid', 'me', 'tail')), { piece: 200, gapMs: 1 })
  const blocked = await (await gateway.post(chat('hi', { stream: true }))).text()
  t.match(shown(blocked), /^word word/)
  t.notMatch(blocked, /forbid|tail/)
})

t.test('a form is read, and written anew', async (t) => {
  const upstream = await fakeUpstream(t, json({ text: 'It is quiet.' }))
  const path = '/v1/audio/transcriptions'
  const settings = route({ path, upstreamPath: path, dialect: 'openai-transcriptions', unscannable: 'permit' })
  const { url, evaluator } = await program(t, [settings], { default: upstreamSettings(upstream.url) })
  const send = (prompt: string, type = 'multipart/form-data; boundary=B') => {
    const file = `--B\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\nID3\0\0\0\xff\xfb`
    const text = `--B\r\nContent-Disposition: form-data; name="prompt"\r\n\r\n${prompt}`
    return fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${gatewayKey}`, 'content-type': type },
      body: Buffer.from(`${file}\r\n${text}\r\n--B--\r\n`, 'latin1')
    })
  }
  const answer = await send('Harbours.')
  t.same(await answer.json(), { text: 'It is quiet.' })
  t.ok(evaluator.inputs.some(({ parts }) => parts.some(({ text }) => text === 'Harbours.')))
  const { headers, body } = upstream.requests.at(-1)!
  const boundary = boundaryOf(headers['content-type'] ?? '') ?? ''
  t.match(boundary, /^form-/)
  t.equal(headers['content-length'], String(body.length))
  t.match(readForm(body, boundary, { file: 'audio' }), { file: { filename: 'a.mp3' }, prompt: 'Harbours.' })
  t.equal((await send('Harbours.', 'application/json')).status, 415)
  t.equal((await send('x\r\n--BX')).status, 400)
  t.equal(upstream.requests.length, 1)
})

t.test('what may not pass: keys, methods, spellings, bodies', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const gateway = await program(t, [route({ bodyLimit: 500 })], { default: upstreamSettings(upstream.url) })
  const cases: [string, Promise<Answered>, number][] = [
    ['no key', gateway.post(chat('hi'), { authorization: 'Bearer x' }), 401],
    ['content type', gateway.post(chat('hi'), { 'content-type': 'text/plain' }), 415],
    ['too large', gateway.post(chat('x'.repeat(600))), 413],
    ['no JSON', gateway.post('{'), 400],
    ['query', gateway.post(chat('hi'), {}, '/v1/chat/completions?a=1'), 400],
    ['odd spelling', gateway.post(chat('hi'), {}, '/v1//chat/completions'), 404],
    ['trailing slash', gateway.post(chat('hi'), {}, '/v1/chat/completions/'), 404],
    ['unknown path', gateway.post(chat('hi'), {}, '/v1/embeddings'), 404],
    ['method', fetch(`${gateway.url}/v1/chat/completions`), 405]
  ]
  for (const [name, response, status] of cases) {
    t.equal((await response).status, status, name)
    t.ok((await (await response).json()).error.code, name)
  }
  t.equal(upstream.requests.length, 0)
  const models = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${gatewayKey}` } })
  t.equal(models.status, 200)
})

t.test('as a middleware, other paths go on, odd spellings of guarded ones do not', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const gateway = await program(t, [route()], { default: upstreamSettings(upstream.url) }, (guard, req, res) =>
    guard(req, res, () => res.end('next'))
  )
  t.equal(await (await fetch(`${gateway.url}/other`)).text(), 'next')
  t.equal((await gateway.post(chat('hi'))).status, 200)
  t.equal((await gateway.post(chat('hi'), {}, '/v1/chat//completions')).status, 404)
  t.equal((await gateway.post(chat('hi'), {}, '/v1/chat/%63ompletions')).status, 404)
})

t.test('upstream faults through http-proxy', async (t) => {
  const upstream = await fakeUpstream(t, stall)
  const spare = await fakeUpstream(t, json(completion('spare')))
  const path = '/gone/v1/chat/completions'
  const gateway = await program(t, [route({ output: 'full' }), route({ path, upstream: 'gone' })], {
    default: upstreamSettings(upstream.url, { firstByteTimeoutMs: 300, idleTimeoutMs: 300, fallback: ['spare'] }),
    gone: upstreamSettings(nowhere, { name: 'gone', fallback: ['spare'] }),
    spare: upstreamSettings(spare.url, { name: 'spare' })
  })
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
  for (const [name, answer, status] of [
    ['reset', reset, 502],
    ['no first byte', stall, 504],
    ['stalled', raw(`${head}content-length: 50\r\n\r\n{`, { close: false }), 504],
    ['too short', raw(`${head}content-length: 50\r\n\r\n{"choices":[]}`), 502],
    ['garbage', raw('nonsense\r\n\r\n'), 502],
    ['redirect', (res: ServerResponse) => res.writeHead(302, { location: '/' }).end(), 502],
    ['stream without its end', sse(sseText(chunks('hello').slice(0, -1), false)), 502]
  ] as const) {
    upstream.answer = answer
    t.equal((await gateway.post(chat('hi'))).status, status, name)
  }
  t.equal(upstream.requests.length, 7, 'each was sent once')
  t.equal(spare.requests.length, 0)
  t.equal((await (await gateway.post(chat('hi'), {}, path)).json()).choices[0].message.content, 'spare')

  upstream.requests.length = 0
  upstream.answer = stall
  const { port } = new URL(gateway.url)
  const socket = connect(Number(port), '127.0.0.1')
  const body = JSON.stringify(chat('hi'))
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gatewayKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  )
  while (upstream.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
  socket.destroy()
  await upstream.requests[0]!.aborted
  t.pass('a client that leaves ends the upstream')
})
