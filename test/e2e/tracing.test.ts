/** Traces as a collector receives them, and all that must not be in them. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { spanNames, traceAttributes } from '../../src/observe/trace-names.js'
import { type CollectedSpan, type Collector, collector } from '../support/collector.js'
import { call } from '../support/gateway.js'
import { msUntil, smallConstitution, startNode } from '../support/node.js'
import { chunks, completion, fakeUpstream, json, sse, sseText } from '../support/upstream.js'

t.setTimeout(120_000)
const key = generateKey('live')
const canary = 'canary-7f3a'
const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

async function traced(
  t: Test,
  { section = '', env = {} }: { section?: string; env?: NodeJS.ProcessEnv } = {}
): Promise<{
  node: Awaited<ReturnType<typeof startNode>>
  found: Collector
  upstream: Awaited<ReturnType<typeof fakeUpstream>>
}> {
  const found = await collector(t)
  const upstream = await fakeUpstream(t, (res, request) => {
    const usage = { prompt_tokens: 11, completion_tokens: 7 }
    const pieces = [...chunks('All ', `is well. ${canary} `, 'Indeed.'), { ...chunks()[0], choices: [], usage }]
    const { stream } = JSON.parse(request.body.toString())
    const answer = stream ? sse(sseText(pieces), { piece: 100 }) : json(completion(`Well. ${canary}`, { usage }))
    answer(res, request)
  })
  const yaml = `upstreams: { default: { url: "${upstream.url}", key: upstream-secret-${canary} } }\ntracing: { endpoint: "${found.url}", headers: { x-token: collector-secret }, ${section} }\n`
  const node = await startNode(t, {
    ...smallConstitution(t, yaml),
    SLUICEGATE_BOOTSTRAP_KEY: key,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    ...env
  })
  t.teardown(() => upstream.close())
  return { node, found, upstream }
}

const chat = (url: string, body: object, headers: Record<string, string> = {}) =>
  call(url, '/v1/chat/completions', {
    key,
    body: { model: 'gpt-x', messages: [{ role: 'user', content: `Hello ${canary}` }], ...body },
    headers
  })
const named = (found: Collector, name: RegExp) => found.spans.filter((span) => name.test(span.name))
const requestOf = ({ spans }: Collector, id: string | null) =>
  spans.find(({ attributes }) => attributes['sluicegate.request_id'] === id)
const childrenOf = ({ spans }: Collector, { spanId, traceId }: CollectedSpan) =>
  spans.filter((span) => span.parentSpanId === spanId && span.traceId === traceId)

async function received(found: Collector, count: number, name = /^(POST|GET)/): Promise<void> {
  if (!Number.isFinite(await msUntil(async () => named(found, name).length >= count, 20_000)))
    throw new Error(`only ${found.spans.map(({ name }) => name)} were received`)
}

t.test('a request, its verdicts and its call upstream are one trace', async (t) => {
  const { node, found, upstream } = await traced(t)
  const answer = await chat(
    node.url,
    { metadata: { topic: canary } },
    { traceparent: parent, 'x-safety-context': `{"topic":"${canary}"}`, cookie: canary }
  )
  t.equal(answer.status, 200)
  await received(found, 1)
  const root = requestOf(found, answer.headers.get('x-request-id'))!
  t.match(root, {
    name: 'POST /v1/chat/completions',
    kind: 2,
    failed: false,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
      'sluicegate.decision': 'permit',
      'sluicegate.policy': 'default@1',
      'sluicegate.verdicts': 2
    }
  })
  t.not(root.traceId, parent.slice(3, 35), 'a client’s trace is not continued')
  t.notOk(root.parentSpanId)
  const children = childrenOf(found, root)
  t.same(children.map(({ name, kind }) => [name, kind]).sort(), [
    ['chat gpt-x', 3],
    ['evaluate answer', 1],
    ['evaluate request', 1]
  ])
  t.match(children.find(({ kind }) => kind === 3)!.attributes, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-x',
    'gen_ai.request.stream': false,
    'gen_ai.usage.input_tokens': 11,
    'gen_ai.usage.output_tokens': 7,
    'http.response.status_code': 200,
    'server.address': '127.0.0.1',
    'server.port': Number(new URL(upstream.url).port),
    'sluicegate.upstream': 'default'
  })
  t.equal(upstream.requests[0]!.headers['traceparent'], parent, 'as the client sent it, which is the default')
  t.match(found.resource, { 'service.name': 'sluicegate', 'service.version': /^\d/ })

  const refused = await chat(node.url, {
    messages: [{ role: 'user', content: `kaboom ${canary}` }],
    model: `${canary} is no name of a model`
  })
  t.equal(refused.status, 400)
  const streamed = await chat(node.url, { stream: true, stream_options: { include_usage: true } })
  t.match(streamed.body, /Indeed/)
  upstream.answer = json({ error: { message: canary } }, 500)
  const broken = await chat(node.url, {})
  const evaluated = await call(node.url, '/api/v1/safety/evaluate', {
    key,
    body: { input_text: `Slay it ${canary}`, session_id: canary }
  })
  t.equal((await call(node.url, '/api/v1/safety/evaluate', { key: generateKey('live'), body: {} })).status, 401)
  await call(node.url, '/healthz')
  await received(found, 6)
  const rootOf = ({ headers }: { headers: Headers }) => requestOf(found, headers.get('x-request-id'))!
  t.match(rootOf(refused).attributes, {
    'sluicegate.decision': 'forbid',
    'sluicegate.rules': ['bomb_words'],
    'http.response.status_code': 400
  })
  t.same(
    childrenOf(found, rootOf(refused)).map(({ name }) => name),
    ['evaluate request'],
    'nothing went upstream'
  )
  t.match(childrenOf(found, rootOf(streamed)).find(({ kind }) => kind === 3)?.attributes, {
    'gen_ai.request.stream': true,
    'gen_ai.usage.input_tokens': 11,
    'gen_ai.usage.output_tokens': 7,
    'http.response.status_code': 200
  })
  t.match(
    childrenOf(found, rootOf(broken)).find(({ kind }) => kind === 3),
    { failed: true, attributes: { 'error.type': '500' } }
  )
  t.match(rootOf(evaluated).attributes, { 'http.route': '/api/v1/safety/evaluate', 'sluicegate.decision': 'depends' })
  t.equal(named(found, /healthz/).length, 0)

  node.child.kill('SIGTERM')
  await once(node.child, 'exit')
  t.equal(node.child.exitCode, 0)
  const all = found.raw.join('\n')
  t.match(all, /collector-secret/, 'its own credential')
  for (const secret of [canary, key, key.slice(9, 17), 'upstream-secret']) t.notMatch(all, secret)
  const known = new Set(Object.keys(traceAttributes))
  for (const span of found.spans)
    for (const name of Object.keys(span.attributes)) t.ok(known.has(name), `${name} is in the table`)
})

t.test('a client’s trace is continued, and an upstream told of ours, where the configuration says so', async (t) => {
  const { node, found, upstream } = await traced(t, {
    section: 'from_client: continue, to_upstream: own, sample: 0',
    env: { OTEL_SERVICE_NAME: 'gate-7', OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test%20one' }
  })
  const headers = { traceparent: parent, tracestate: 'vendor=1' }
  const continued = await chat(node.url, {}, headers)
  await chat(node.url, {}, { ...headers, traceparent: parent.replace(/01$/, '00') })
  await chat(node.url, {})
  await chat(node.url, {}, { traceparent: `00-${'0'.repeat(32)}-${'1'.repeat(16)}-01` })
  await chat(node.url, {}, headers)
  await received(found, 2)
  const [first, , third] = upstream.requests.map(({ headers }) => headers)
  const root = requestOf(found, continued.headers.get('x-request-id'))!
  const [own] = childrenOf(found, root).filter(({ kind }) => kind === 3)
  t.equal(root.traceId, parent.slice(3, 35))
  t.equal(root.parentSpanId, parent.slice(36, 52))
  t.equal(first!['traceparent'], `00-${root.traceId}-${own!.spanId}-01`)
  t.equal(first!['tracestate'], undefined)
  t.match(third!['traceparent'], /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/, 'not sampled, and says so')
  t.equal(named(found, /^POST/).length, 2, 'what was not sampled is not sent')
  t.match(found.resource, { 'service.name': 'gate-7', 'deployment.environment': 'test one' })
})

t.test('a collector that is away, slow or refuses costs no request anything, and the exit little', async (t) => {
  const { node, found } = await traced(t, {
    section: 'to_upstream: none',
    env: { OTEL_BSP_MAX_QUEUE_SIZE: '16', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '8' }
  })
  const page = async () => (await fetch(`${node.opsUrl}/metrics`)).text()
  for (const status of [400, undefined]) {
    found.status = status
    const answers = await Promise.all(Array.from({ length: 40 }, () => chat(node.url, {})))
    t.ok(answers.every(({ status }) => status === 200))
    if (status === 400)
      t.ok(
        Number.isFinite(await msUntil(async () => /trace_spans_total\{result="failed"\} \d/.test(await page()), 20_000))
      )
  }
  t.ok(node.logs.some(({ msg }) => msg === 'traces cannot be exported'))
  t.notMatch(JSON.stringify(node.logs), found.url)
  const begun = performance.now()
  node.child.kill('SIGTERM')
  await once(node.child, 'exit')
  t.equal(node.child.exitCode, 0)
  t.ok(performance.now() - begun < 20_000)
})

t.test('the page on traces has the very names', async (t) => {
  const page = readFileSync(new URL('../../docs/metrics-and-traces.md', import.meta.url), 'utf8')
  const section = /\n## Traces\n([\s\S]*)/.exec(page)?.[1] ?? ''
  const rows = [...section.matchAll(/^\| `([\w.]+)` \| ([\w, ]+) \| (.+) \|$/gm)].map(([, name, on, says]) => [
    name,
    on,
    says
  ])
  t.same(
    rows,
    Object.entries(traceAttributes).map(([name, { on, says }]) => [name, on.join(', '), says])
  )
  for (const name of Object.values(spanNames)) t.match(section, `\`${name}\``)
})
