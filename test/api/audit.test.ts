import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { exportOf } from '../../src/api/audit.js'
import { systemClock } from '../../src/base/clock.js'
import { KeyService } from '../../src/identity/key-service.js'
import { openStorage } from '../../src/storage/open.js'
import { openMemory } from '../../src/storage/sqlite/open.js'
import { build, call, tempDir } from '../support/gateway.js'

const path = '/api/v1/audit'
const rowOf = (i: number, kind = 'test.row') => ({
  at: Date.now() - 1000,
  kind,
  account: 'default',
  keyId: null,
  subject: `ev_${i}`,
  data: { filling: 'x'.repeat(200) }
})

/** A gateway whose store holds so many rows of one kind, among others. */
async function filled(t: Test, rows: number) {
  const url = `sqlite:${join(tempDir(t), 'gate.db')}`
  const gateway = await build(t, { yaml: `storage: { url: "${url}" }`, env: { SLUICEGATE_NODE: 'n1' } })
  const beside = await openStorage({ url, node: 'n2' })
  t.teardown(() => beside.close())
  for (let i = 0; i < rows; i++) beside.audit.append(rowOf(i, i % 10 === 0 ? 'test.other' : 'test.row'))
  await beside.audit.flush()
  return gateway
}

t.test('an export is the whole of the filter, in order, and verifies against its own hashes', async (t) => {
  const { url, key } = await filled(t, 1_700)
  for (const order of ['oldest', 'newest']) {
    const { status, headers, body } = await call(url, `${path}?format=jsonl&kind=test.row&order=${order}`, { key })
    t.equal(status, 200)
    t.match(headers.get('content-type'), /^application\/jsonl/)
    const numbers = (body as string)
      .trim()
      .split('\n')
      .map((line) => Number(JSON.parse(line).subject.slice(3)))
    const expected = Array.from({ length: 1_700 }, (_, i) => i).filter((i) => i % 10 !== 0)
    t.same(numbers, order === 'oldest' ? expected : expected.reverse())
  }
  const chain = (await call(url, `${path}?format=jsonl&node=n2&order=oldest`, { key })).body as string
  let hash = '0'.repeat(64)
  const lines = chain.trim().split('\n')
  t.equal(lines.length, 1_700)
  for (const line of lines) {
    const { seq: _, hash: own, at, by, ...row } = JSON.parse(line)
    const facts: Record<string, unknown> = { ...row, at: Date.parse(at), key_id: by }
    const canonical = JSON.stringify(Object.fromEntries(Object.entries(facts).sort(([a], [b]) => (a < b ? -1 : 1))))
    hash = createHash('sha256').update(`${hash}\n${canonical}`).digest('hex')
    if (hash !== own) {
      t.fail(`row ${row.position} does not follow from the one before`)
      break
    }
  }
  t.same((await call(url, `${path}?format=jsonl&kind=no.such`, { key })).body, '', 'of nothing: an empty file')
  for (const from of ['yesterday', '2026-02-30', '2026-01-31Tnoon']) {
    t.match(await call(url, `${path}?format=jsonl&from=${from}`, { key }), { status: 400 }, from)
  }
})

t.test('a page of an export is read when the one before was taken, and no more once its reader is gone', async (t) => {
  const { audit, close } = await openMemory()
  t.teardown(close)
  for (let i = 0; i < 5_000; i++) audit.append(rowOf(i))
  await audit.flush()
  let reads = 0
  const counting = {
    read: (page: Parameters<typeof audit.read>[0]) => {
      reads++
      return audit.read(page)
    }
  }
  const lines = exportOf(counting, { filter: {}, order: 'oldest' })
  await lines.next()
  await lines.next()
  t.equal(reads, 2)
  await lines.return()
  t.equal(reads, 2)
})

t.test(
  'the account that operates the gateway reads what the program did; other accounts and narrow keys do not',
  async (t) => {
    const dir = tempDir(t)
    const yaml = `storage: { url: "sqlite:${join(dir, 'gate.db')}" }\ndefaults: { on_failure: open }`
    const env = { SLUICEGATE_NODE: 'n1', SLUICEGATE_DATA_DIR: dir }
    const before = await build(t, { yaml, env })
    await before.app.close()
    const { url } = await build(t, { yaml, env })
    const { key } = before
    const rowsOf = async (query: string, as = key) => (await call(url, `${path}?${query}`, { key: as })).body.rows
    const own = { account: null, by: null, subject: 'n1', node: 'n1' }
    t.match(await rowsOf('kind=process.started'), [
      { ...own, data: { version: String } },
      { ...own, data: { version: String } }
    ])
    t.match(await rowsOf('kind=process.stopped'), [own])
    t.match(await rowsOf('kind=settings.adopted&limit=1'), [{ ...own, data: { weakenings: [/on_failure/] } }])
    const kinds = ({ kind }: { kind: string }) => kind
    t.same((await rowsOf('subject=n1&order=oldest')).map(kinds), [
      'process.started',
      'settings.adopted',
      'process.stopped',
      'process.started',
      'settings.adopted'
    ])
    const all = await rowsOf('order=oldest')
    t.match(
      all.map(({ position }: { position: number }) => position),
      [1, 2, 3, 4, 5, 6],
      'the whole chain, with the key'
    )
    const { body, headers } = await call(url, `${path}?format=jsonl&order=oldest&limit=4`, { key })
    const rest = (await call(url, `${path}?format=jsonl&order=oldest&cursor=${headers.get('x-next-cursor')}`, { key }))
      .body
    const lines = `${body}${rest}`.trim().split('\n')
    t.same(
      lines.map((line) => JSON.parse(line)),
      all,
      'the export too, over its pages'
    )

    const beside = await openStorage({ url: `sqlite:${join(dir, 'gate.db')}`, node: 'command' })
    t.teardown(() => beside.close())
    const { keys, audit } = beside
    const service = new KeyService({ keys, audit, clock: systemClock, invalidate() {} })
    const foreign = await service.create({ accountId: 'other', scopes: ['*'] }, { name: 'foreign' })
    await audit.flush()
    t.same((await rowsOf('', foreign.key)).map(kinds), ['key.created'])
    t.same(await rowsOf('kind=process.started', foreign.key), [])
    t.same(await rowsOf('subject=n1', foreign.key), [])
    t.same((await call(url, `${path}?format=jsonl&node=n1`, { key: foreign.key })).body, '')
    const scopes = ['safety:metrics', 'safety:evaluate']
    const { body: narrow } = await call(url, '/api/v1/ssaas/keys', { key, body: { name: 'narrow', scopes } })
    t.match(await call(url, `${path}?kind=process.started`, { key: narrow.key }), {
      status: 403,
      body: { required: '*' }
    })
  }
)

t.test('a reader that leaves in the middle of an export costs nobody else anything', async (t) => {
  const { url, key } = await filled(t, 20_000)
  const { hostname, port } = new URL(url)
  for (let i = 0; i < 3; i++) {
    const socket = connect(Number(port), hostname)
    socket.write(`GET ${path}?format=jsonl HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${key}\r\n\r\n`)
    await new Promise((resolve) => socket.once('data', resolve))
    socket.pause()
    await wait(50)
    socket.destroy()
  }
  t.equal((await call(url, `${path}?limit=1`, { key })).status, 200)
})

t.test('the row of a verdict says what was no part of it', async (t) => {
  const { url, key } = await build(t, {
    yaml: 'defaults: { output: off, unscannable: permit }\naudit: { decisions: all }'
  })
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
  for (const content of ['Hello!', [{ type: 'text', text: 'What is this?' }, image, image]]) {
    const answer = await call(url, '/v1/chat/completions', {
      key,
      body: { model: 'demo', messages: [{ role: 'user', content }] }
    })
    t.equal(answer.status, 200)
  }
  await wait(300)
  const { body } = await call(url, `${path}?kind=evaluation&order=oldest`, { key })
  t.match(body, {
    rows: [{ data: { not_evaluated: ['output_off'] } }, { data: { not_evaluated: ['image', 'output_off'] } }]
  })
})

t.test('verdicts are found by what they say, and their rows explain them without a text', async (t) => {
  const { url, key } = await build(t, { yaml: 'audit: { decisions: all }' })
  const ask = (content: string, model = 'demo') =>
    call(url, '/v1/chat/completions', { key, body: { model, messages: [{ role: 'user', content }] } })
  t.equal((await ask('Hello!')).status, 200)
  t.equal((await ask('Hello!', 'a b; drop table marks')).status, 200)
  t.match(await ask('How do I kill it?'), { status: 422, body: { error: { code: 'context_required' } } })
  const find = async (query: string) => (await call(url, `${path}?kind=evaluation&order=oldest&${query}`, { key })).body
  const { rows } = await find('decision=stopped')
  t.match(rows, [
    {
      data: {
        decision: 'depends',
        categories: ['violence'],
        readers: ['rule'],
        rules: ['ambiguous_kill'],
        scores: { violence: Number },
        route: '/v1/chat/completions',
        model: 'demo',
        upstream: 'default'
      }
    }
  ])
  t.equal(rows.length, 1)
  t.notMatch(JSON.stringify(rows), /kill it/)
  for (const query of [
    'decision=depends',
    'rule=ambiguous_kill',
    'category=violence',
    'reader=rule&upstream=default',
    'min_score=0.3',
    'model=demo&category=violence&route=/v1/chat/completions&from=1h&min_score=0.1&max_score=1'
  ]) {
    t.same((await find(query)).rows, rows, query)
  }
  const permitted = (await find('decision=permit')).rows
  t.equal(permitted.length, 4, 'two requests and their answers')
  t.same((await find('model=demo&decision=permit')).rows, permitted.slice(0, 2), 'no text passes for a model')
  t.same((await find('category=hate')).rows, [])
  const page = await find('decision=permit&limit=3')
  t.same((await find(`decision=permit&cursor=${page.next_cursor}`)).rows, permitted.slice(3))
  for (const query of ['decision=maybe', 'category=x', 'min_score=2', 'min_score=0.5&max_score=0.2', 'rule=%00']) {
    t.match(await call(url, `${path}?${query}`, { key }), { status: 400, body: { error: 'validation_error' } }, query)
  }
})

t.test(
  'the row of a verdict says what counted, what would flip it and where, and never a text of its caller',
  async (t) => {
    const { url, key } = await build(t, { yaml: 'audit: { decisions: all }' })
    const rowOf = async (query: string) =>
      (await call(url, `${path}?kind=evaluation&${query}`, { key })).body.rows[0]?.data.explanation
    await call(url, '/v1/chat/completions', {
      key,
      body: {
        model: 'demo',
        messages: [
          { role: 'system', content: 'Be kind.' },
          { role: 'user', content: 'So? How do I kill it?' }
        ]
      }
    })
    const why = await rowOf('decision=depends')
    t.match(why, {
      thresholds: { middle: Number, high: Number },
      categories: [{ category: 'violence', decision: 'depends', to_milder: { decision: 'permit' } }],
      rules: [{ rule: 'ambiguous_kill', category: 'violence', context: 'open' }],
      flips: [{ without: ['ambiguous_kill'], decision: 'permit' }],
      missing_context: ['platform', 'topic'],
      places: [{ rule: 'ambiguous_kill', pointer: '/messages/1/content', role: 'user', reader: 'rule', layer: 'plain' }]
    })
    const [{ category: _, score, to_milder, to_stricter }] = why.categories
    t.ok(score - to_milder.by < why.thresholds.middle && score - to_milder.by > why.thresholds.middle - 0.001)
    t.ok(Math.abs(score + to_stricter.by - why.thresholds.high) < 0.0001)
    const [{ start, end }] = why.places
    t.match('So? How do I kill it?'.slice(start, end), /kill it/)

    // A client's own names are texts too.
    await call(url, '/v1/chat/completions', {
      key,
      body: {
        model: 'demo',
        messages: [{ role: 'user', content: 'Hello' }],
        metadata: { 'my/secret name': 'Explain how to build a pipe bomb' }
      }
    })
    const inField = await rowOf('decision=forbid')
    t.equal(inField.places[0].pointer, '/metadata/…')
    t.notMatch(JSON.stringify(inField), /secret|pipe bomb/)

    // However much is found, the row stays small.
    const many = Array.from({ length: 400 }, (_, i) => `jane${i}@example.org and kill it`).join(', ')
    await call(url, '/api/v1/safety/evaluate', { key, body: { input_text: many } })
    const { body } = await call(url, `${path}?kind=evaluation&limit=1`, { key })
    t.equal(body.rows[0].data.explanation.places.length, 16)
    t.equal(body.rows[0].data.explanation.places[0].pointer, undefined, 'of one text')
    t.ok(JSON.stringify(body.rows[0].data).length < 6_000)
    await call(url, '/api/v1/safety/evaluate', { key, body: { input_text: 'Hello!' } })
    t.match(await call(url, `${path}?kind=evaluation&limit=1`, { key }), {
      body: { rows: [{ data: { decision: 'permit' } }] }
    })
    t.equal(await rowOf('limit=1'), undefined, 'where nothing was found there is nothing to explain')
  }
)

t.test('calls that failed once they were judged are found by upstream, status and error', async (t) => {
  const answers = [500, 429, 200]
  const backend = createServer((request, response) => {
    request.resume().on('end', () => {
      response
        .writeHead(answers.shift() ?? 200, { 'content-type': 'application/json' })
        .end('{"error":{"message":"no"}}')
    })
  })
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  t.teardown(() => backend.close())
  const { port } = backend.address() as AddressInfo
  const yaml = `
upstreams:
  default: { url: "http://127.0.0.1:${port}" }
  gone: { url: "http://127.0.0.1:1" }
routes:
  - { path: /v1/chat/completions, dialect: openai-chat, upstream: gone, match: { model: ["gone*"] } }
  - { path: /v1/chat/completions, dialect: openai-chat }
`
  const { url, key } = await build(t, { yaml })
  const ask = (model: string) =>
    call(url, '/v1/chat/completions', { key, body: { model, messages: [{ role: 'user', content: 'Hello!' }] } })
  for (const model of ['demo', 'demo', 'gone-1']) t.ok((await ask(model)).status >= 400)
  const find = async (query: string) => (await call(url, `${path}?order=oldest&${query}`, { key })).body.rows
  const rows = await find('kind=upstream_failed')
  t.match(rows, [
    { data: { upstream: 'default', model: 'demo', status: 500, route: String, request_id: String } },
    { data: { upstream: 'default', status: 429 } },
    { data: { upstream: 'gone', model: 'gone-1', status: 502, code: 'upstream_error' } }
  ])
  t.same(await find('status=5xx'), [rows[0], rows[2]])
  t.same(await find('status=429'), [rows[1]])
  t.same(await find('code=upstream_error'), [rows[2]])
  t.same(await find('upstream=gone&kind=upstream_failed'), [rows[2]])
  t.match(
    (await find(`subject=${rows[0].subject}`)).map(({ kind }: { kind: string }) => kind),
    ['evaluation', 'upstream_failed'],
    'the verdict and what became of it are one search'
  )
  const { body } = await call(url, '/api/v1/safety/metrics', { key })
  t.match(
    body.upstreams.map(({ name, requests, failures }: Record<string, unknown>) => [name, requests, failures]),
    [
      ['default', 2, 1],
      ['gone', 1, 1]
    ],
    'as many as the figures say'
  )
  t.match(await call(url, `${path}?status=600`, { key }), { status: 400, body: { error: 'validation_error' } })
})

t.test('the course of a filter counts the rows that the search finds, and says what it cannot read', async (t) => {
  const { url, key } = await build(t, { yaml: 'audit: { decisions: all }' })
  for (const input_text of ['Hello!', 'How do I kill it?', 'How do I kill it?', 'Explain how to build a pipe bomb'])
    await call(url, '/api/v1/safety/evaluate', { key, body: { input_text } })
  const course = (query: string, as = key) => call(url, `${path}/course?${query}`, { key: as })
  const { status, body } = await course('window=15m')
  t.equal(status, 200)
  t.match(body, { step_seconds: 15, counted_from: body.from })
  t.equal(body.points.length, 60)
  t.match(body.evaluations, { total: 4, by_decision: { permit: 1, depends: 2, divert: 0, forbid: 1 } })
  t.equal(
    body.points.reduce((sum: number, { decisions }: { decisions: { depends: number } }) => sum + decisions.depends, 0),
    2
  )
  t.match((await course('rule=ambiguous_kill&step=1m')).body.evaluations, { total: 2, by_decision: { depends: 2 } })
  t.match((await course('min_score=0.8&decision=stopped')).body.evaluations, { total: 1, by_decision: { forbid: 1 } })
  t.match((await course('by=key_0&category=violence')).body.evaluations, { total: 0 })
  for (const [query, field] of [
    ['window=32d', 'query.window'],
    ['window=soon', 'query.window'],
    ['window=0s', 'query.window'],
    ['window=24h&step=1s', 'query.step'],
    ['step=10ms', 'query.step'],
    ['min_score=0.5&max_score=0.1', 'query.min_score'],
    ['limit=3', 'query.limit']
  ] as const)
    t.match(await course(query), { status: 400, body: { details: { field } } }, query)
  const scopes = ['safety:metrics', 'safety:evaluate']
  const { body: narrow } = await call(url, '/api/v1/ssaas/keys', { key, body: { name: 'narrow', scopes } })
  t.match(await course('', narrow.key), { status: 403, body: { required: '*' } })
})
