/** One key beside the others: how many requests it may have under way, and what it may wait for. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { generateKey } from '../../src/identity/key-format.js'
import { call } from '../support/gateway.js'
import { msUntil, type Node, smallConstitution, startNode } from '../support/node.js'
import { realtimeUpstream, refused } from '../support/realtime.js'
import { type Answer, chunks, completion, type FakeUpstream, fakeUpstream, json, sseText } from '../support/upstream.js'
import { sentBy, wires } from '../support/wires.js'
import { isFull } from './report.js'

t.setTimeout(600_000)
const root = generateKey('live')

const underWay = async (node: Node) =>
  Number(/^sluicegate_requests_under_way (\d+)/m.exec(await (await fetch(`${node.opsUrl}/metrics`)).text())?.[1])
const settled = (node: Node) => msUntil(async () => (await underWay(node)) === 0, 15_000)

async function makeKey(node: Node, more: object): Promise<{ key: string; id: string }> {
  const { body } = await call(node.url, '/api/v1/ssaas/keys', {
    key: root,
    body: { name: 'k', accept_terms: true, rate_limit_per_minute: 1_000_000, ...more }
  })
  return { key: body.key, id: body.record.key_id }
}

/** A gateway with two routes, or with those of every dialect, and its upstream. */
async function house(t: Test, answer: Answer, { everyDialect = false } = {}) {
  const upstream = await fakeUpstream(t, answer)
  const voice = await realtimeUpstream(t)
  const routes = `routes:
  - { path: /v1/chat/completions, dialect: openai-chat }
  - { path: /v1/realtime, dialect: openai-realtime, upstream: voice }
`
  const yaml = `upstreams: { default: { url: "${upstream.url}" }, voice: { url: "${voice.origin}" } }
review: { hold: 30s }
${everyDialect ? '' : routes}`
  const node = await startNode(t, { ...smallConstitution(t, yaml), SLUICEGATE_BOOTSTRAP_KEY: root })
  return { node, upstream }
}

const ask = (content: string, stream = false) =>
  JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content }] })

/** A request as bytes. */
function request(key: string, body: string, { sent = body.length, headers = '' } = {}): string {
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n`
  return `${head}${headers}Content-Length: ${body.length}\r\n\r\n${body.slice(0, sent)}`
}

function dial(node: Node, bytes: string) {
  const { hostname, port } = new URL(node.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(bytes)
  return socket
}

t.test('beyond its places a key is told so, by each API in its own terms, and others are served', async (t) => {
  let silent = true
  const { node, upstream } = await house(
    t,
    (res, asked) => {
      if (!silent || asked.body.includes('at once')) json(completion('Fine.'))(res, asked)
    },
    { everyDialect: true }
  )
  const greedy = await makeKey(node, { max_concurrent: 2 })
  const other = await makeKey(node, {})
  const waiting = [0, 1].map(() => dial(node, request(greedy.key, ask('wait'))))
  t.teardown(() => waiting.forEach((socket) => void socket.destroy()))
  await msUntil(async () => upstream.requests.length === 2, 10_000)
  const { body: rotated } = await call(node.url, `/api/v1/ssaas/keys/${greedy.id}/rotate`, {
    key: root,
    method: 'POST'
  })
  for (const key of [greedy.key, rotated.key]) {
    for (const wire of wires) {
      const { type, bytes } = sentBy(wire, 'more', false)
      const answer = await call(node.url, wire.path(false), { key, body: bytes, headers: { 'content-type': type } })
      t.equal(answer.status, 429, wire.name)
      t.equal(wire.codeOf(answer.body), 'concurrency_limit_exceeded', wire.name)
      t.equal(answer.headers.get('retry-after'), '1', wire.name)
    }
  }
  const { key } = greedy
  const evaluated = await call(node.url, '/api/v1/safety/evaluate', { key, body: { input_text: 'hello' } })
  t.match(evaluated, { status: 429, body: { error: 'concurrency_limit_exceeded', limit: 2, retry_after: 1 } })
  const moderated = await call(node.url, '/v1/moderations', { key, body: { input: 'hello' } })
  t.match(moderated, { status: 429, body: { error: { code: 'concurrency_limit_exceeded' } } })
  for (const path of ['/guards/litellm', '/guards/portkey', '/guards/flat']) {
    const { status } = await call(node.url, path, { key, body: { texts: ['hello'] } })
    if (status !== 404) t.equal(status, 429, path)
  }
  t.equal((await call(node.url, '/v1/models', { key })).status, 429, 'a list of models takes a connection too')
  t.match(await refused(node.url, { authorization: `Bearer ${key}` }), { status: 429 }, 'a session')
  t.equal((await call(node.url, '/api/v1/ssaas/keys', { key })).status, 200, 'keys are managed all the same')
  const served = await call(node.url, '/v1/chat/completions', { key: other.key, body: JSON.parse(ask('at once')) })
  t.equal(served.status, 200, 'another key is served')
  const page = await (await fetch(`${node.opsUrl}/metrics`)).text()
  t.match(page, /sluicegate_key_denials_total\{reason="concurrency_limit_exceeded"\} \d+/)
  silent = false
  waiting.forEach((socket) => void socket.destroy())
  t.ok((await settled(node)) < 15_000, 'nothing of it stays')
  t.equal((await call(node.url, '/api/v1/safety/evaluate', { key, body: { input_text: 'hello' } })).status, 200)
})

/** The ways in which a request ends. Each resolves when the client has no more to do with it. */
const endings: Readonly<Record<string, (node: Node, key: string, upstream: FakeUpstream) => Promise<unknown>>> = {
  answered: (node, key) => call(node.url, '/v1/chat/completions', { key, body: JSON.parse(ask('answer')) }),
  streamed: (node, key) => call(node.url, '/v1/chat/completions', { key, body: JSON.parse(ask('stream', true)) }),
  evaluated: (node, key) => call(node.url, '/api/v1/safety/evaluate', { key, body: { input_text: 'hello' } }),
  refused: (node, key) => call(node.url, '/v1/chat/completions', { key, body: JSON.parse(ask('kaboom')) }),
  malformed: (node, key) => call(node.url, '/v1/chat/completions', { key, body: '{' }),
  tooLarge: (node, key) => call(node.url, '/api/v1/safety/evaluate', { key, body: 'x'.repeat(2 ** 21) }),
  spent: (node, key) => call(node.url, '/v1/models', { key }),
  cutByUpstream: (node, key) => call(node.url, '/v1/chat/completions', { key, body: JSON.parse(ask('cut')) }),
  brokenStream: (node, key) =>
    call(node.url, '/v1/chat/completions', { key, body: JSON.parse(ask('broken', true)) }).catch(() => {}),
  async leftInItsBody(node, key) {
    const socket = dial(node, request(key, ask('answer'), { sent: 20 }))
    await setTimeout(20)
    socket.destroy()
  },
  async leftBeforeTheAnswer(node, key) {
    const socket = dial(node, request(key, ask('silence')))
    await setTimeout(30)
    socket.destroy()
  },
  async leftInAStream(node, key) {
    const socket = dial(node, request(key, ask('endless', true)))
    await once(socket, 'data')
    socket.destroy()
  },
  async leftWhileHeldForReview(node, key) {
    const headers = 'X-Safety-Context: {"topic":"unclear"}\r\n'
    const socket = dial(node, request(key, ask('how to slay it'), { headers }))
    await setTimeout(50)
    socket.destroy()
  },
  async leftWithRequestsAhead(node, key) {
    const ahead = ['silence', 'answer', 'stream', 'endless'].map((what) => request(key, ask(what, what !== 'silence')))
    const socket = dial(node, ahead.join(''))
    await setTimeout(100)
    socket.destroy()
  },
  async session(node, key) {
    const socket = new WebSocket(`${node.url.replace('http', 'ws')}/v1/realtime?model=m`, {
      headers: { 'x-api-key': key }
    })
    await once(socket, 'open')
    socket.close()
    await once(socket, 'close')
  },
  async cutSession(node, key) {
    const socket = new WebSocket(`${node.url.replace('http', 'ws')}/v1/realtime?model=m`, {
      headers: { 'x-api-key': key }
    })
    await once(socket, 'open')
    socket.terminate()
  }
}

const answers: Readonly<Record<string, Answer>> = {
  answer: json(completion('Fine.')),
  stream: (res) => res.writeHead(200, { 'content-type': 'text/event-stream' }).end(sseText(chunks('Fine. '))),
  silence: () => {},
  cut: (res) => res.socket!.resetAndDestroy(),
  broken: (res) => {
    res
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .write(sseText(chunks('Fine. '.repeat(40)).slice(0, 2), false))
    void setTimeout(30).then(() => res.socket?.resetAndDestroy())
  },
  endless: (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    const timer = setInterval(() => res.write(sseText(chunks('Fine. '.repeat(20)).slice(1, 2), false)), 20)
    res.once('close', () => clearInterval(timer))
  }
}

t.test('however requests end, in whatever number at once, none of them stays counted', async (t) => {
  const { node, upstream } = await house(t, (res, asked) => {
    const what = /"content":"(\w+)"/.exec(asked.body.toString())?.[1]
    if (asked.method === 'GET') json({ object: 'list', data: [] })(res, asked)
    else answers[what ?? 'answer']?.(res, asked)
  })
  const { key } = await makeKey(node, { max_concurrent: 1_000 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...Object.keys(endings)), { minLength: 1, maxLength: 24 }),
      async (chosen) => {
        await Promise.all(chosen.map((name) => endings[name]!(node, key, upstream)))
        return (await settled(node)) < 15_000
      }
    ),
    { numRuns: isFull ? 100 : 6, examples: [[Object.keys(endings)]] }
  )
  t.equal(await underWay(node), 0)
})

t.test('keys take turns for the connections of an upstream, and nobody waits for ever', async (t) => {
  const open: (() => void)[] = []
  const order: string[] = []
  const upstream = await fakeUpstream(t, (res, asked) => {
    order.push(/"content":"(\w+)"/.exec(asked.body.toString())![1]!)
    open.push(() => json(completion('Fine.'))(res, asked))
  })
  const yaml = `upstreams: { default: { url: "${upstream.url}", max_connections: 2, queue_timeout: 3s } }\n`
  const node = await startNode(t, { ...smallConstitution(t, yaml), SLUICEGATE_BOOTSTRAP_KEY: root })
  const [many, few] = [await makeKey(node, {}), await makeKey(node, {})]
  const send = (key: string, what: string) =>
    call(node.url, '/v1/chat/completions', { key, body: JSON.parse(ask(what)) })
  const ofMany = Array.from({ length: 20 }, () => send(many.key, 'many'))
  await msUntil(async () => (await underWay(node)) === 20 && order.length === 2, 5_000)
  const ofFew = [send(few.key, 'few'), send(few.key, 'few')]
  await msUntil(async () => (await underWay(node)) === 22, 5_000)
  for (let i = 0; i < 6; i++) {
    open.shift()!()
    await msUntil(async () => order.length === 3 + i, 5_000)
  }
  t.same(order.slice(2, 6).toSorted(), ['few', 'few', 'many', 'many'], 'of the next four, two are those of each')
  // Nothing is answered any more: who waits is told.
  const late = await Promise.all(ofMany.slice(8).map((answer) => answer))
  const told = late.filter(({ status }) => status === 503)
  t.ok(told.length >= 10, `${told.length} were told`)
  for (const { headers, body } of told) {
    t.equal(body.error.code, 'overloaded')
    t.ok(Number(headers.get('retry-after')) >= 1)
  }
  for (const answer of open) answer()
  await Promise.all([...ofMany, ...ofFew])
  t.equal(
    (await Promise.all(ofFew)).every(({ status }) => status === 200),
    true
  )
  t.ok((await settled(node)) < 15_000)
  const again = send(few.key, 'few')
  await msUntil(async () => order.length === 10, 5_000)
  open.at(-1)!()
  t.equal((await again).status, 200, 'those who were told hold no place')
})
