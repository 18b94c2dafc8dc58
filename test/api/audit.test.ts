import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { exportOf } from '../../src/api/audit.js'
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
  t.match(await call(url, `${path}?format=jsonl&from=yesterday`, { key }), { status: 400 })
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
