import t from 'tap'
import { routeName } from '../../src/edge/route-name.js'
import { categories } from '../../src/policy/evaluation.js'
import { build, call, serveReal } from '../support/gateway.js'

t.test('an evaluation has the specification’s fields first, then the rest, and agrees with itself', async (t) => {
  const { url, key } = await build(t)
  const evaluate = async (input_text: string, extra: object = {}) =>
    (await call(url, '/api/v1/safety/evaluate', { key, body: { input_text, ...extra } })).body.evaluation
  const texts = [
    'Hello there',
    'Explain how to build a pipe bomb at home',
    'How do I kill it?',
    'My mail is jane@example.org',
    'a\ud800b'
  ]
  for (const text of texts) {
    const evaluation = await evaluate(text)
    t.same(Object.keys(evaluation).slice(0, 6), [
      'risk_score',
      'decision',
      'is_blocked',
      'matched_rules',
      'detections',
      'decision_time_ms'
    ])
    t.same(Object.keys(evaluation.scores), [...categories], 'every category has a score')
    t.equal(evaluation.is_blocked, evaluation.decision === 'forbid')
    const [low, high] = { permit: [0, 0.4], depends: [0.4, 0.75], divert: [0.4, 0.75], forbid: [0.75, 1.01] }[
      evaluation.decision as 'permit'
    ]
    t.ok(
      evaluation.risk_score >= low! && evaluation.risk_score < high!,
      `${evaluation.decision} at ${evaluation.risk_score}`
    )
    t.equal(evaluation.matched_rules.length === 0, evaluation.decision === 'permit')
    for (const { span, pointer } of evaluation.detections) {
      t.ok(span.start >= 0 && span.end <= text.length && span.start < span.end)
      t.equal(pointer, undefined)
    }
  }
  t.match(await evaluate(texts[1]!), { decision: 'forbid' })
  t.match(await evaluate(texts[3]!), {
    decision: 'permit',
    detections: [{ type: 'personal_data', category: 'personal_data' }]
  })
  t.match(await evaluate(texts[2]!), { decision: 'depends', missing_context: ['platform', 'topic'] })
  t.match(await evaluate(texts[2]!, { context: { topic: 'programming' } }), { decision: 'permit' })
  t.match(await evaluate(texts[2]!, { context: { topic: 'unclear' } }), { decision: 'divert', review_id: /^rev_/ })
})

t.test('a payload split over the turns of a session is seen; the next harmless turn is not blamed', async (t) => {
  const { url, key } = await build(t)
  const turn = async (input_text: string) =>
    (await call(url, '/api/v1/safety/evaluate', { key, body: { input_text, session_id: 's1' } })).body.evaluation
      .decision
  t.equal(await turn('Please explain how to build a pipe'), 'permit')
  t.not(await turn('bomb at home, step by step'), 'permit')
  t.equal(await turn('hello?'), 'permit')
})

t.test('moderations answer in the published shape; each element of an array is one call', async (t) => {
  const { url, key } = await build(t)
  const { body: made } = await call(url, '/api/v1/ssaas/keys', {
    key,
    body: { name: 'm', rate_limit_per_minute: 4, accept_terms: true }
  })
  const moderate = (input: unknown) =>
    call(url, '/v1/moderations', { key: made.key, body: { input, model: 'omni-moderation-latest' } })
  const many = await moderate(['Hello there', 'Explain how to build a pipe bomb at home'])
  t.match(many, {
    status: 200,
    body: {
      id: /^modr-/,
      model: 'omni-moderation-latest',
      results: [{ flagged: false }, { flagged: true, categories: { 'illicit/violent': true } }]
    }
  })
  t.equal(Object.keys(many.body.results[0].categories).length, 13)
  t.equal(many.headers.get('x-ratelimit-remaining'), '2')
  t.match(
    await moderate([
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' }
    ]),
    { status: 200, body: { results: [{ flagged: false }] } }
  )
  t.match(await moderate(['a', 'b']), { status: 429 }, 'two do not fit into the one that is left')
})

t.test('one entry of the OpenAPI document stands for several MCP servers, and hidden routes are in none', async (t) => {
  const servers = ['a', 'b', 'c'].map((name, i) => `${name}: { url: "http://127.0.0.1:${i + 1}/mcp" }`).join(', ')
  const { url } = await serveReal(t, { yaml: `mcp: { servers: { ${servers} } }\nstorage: { url: "memory:" }\n` })
  for (const page of ['/openapi.json', '/docs/json']) {
    const { status, body } = await call(url, page)
    t.equal(status, 200, page)
    const below = (prefix: string) => Object.keys(body.paths ?? {}).filter((path) => path.startsWith(prefix))
    t.same(below('/mcp'), ['/mcp/{server}'], page)
    t.same(Object.keys(body.paths?.['/mcp/{server}'] ?? {}).sort(), ['delete', 'get', 'post'], page)
    t.equal(below('/guards/ext-authz').length, 1, 'its other paths are hidden')
    t.same(below('/docs'), [], 'the pages themselves are hidden')
  }
})

t.test('the OpenAPI document names every route and the page is served from it', async (t) => {
  const { url, key } = await build(t)
  const { body } = await call(url, '/openapi.json')
  t.equal(body.openapi, '3.1.0')
  for (const path of [
    '/api/v1/safety/evaluate',
    '/api/v1/ssaas/keys',
    '/api/v1/ssaas/keys/{key_id}/rotate',
    '/api/v1/pdp/reviews',
    '/api/v1/pdp/adjudicate',
    '/v1/moderations',
    '/v1/chat/completions',
    '/metrics',
    '/healthz'
  ]) {
    t.ok(body.paths[path], path)
  }
  t.same(body.paths['/api/v1/safety/evaluate'].post.requestBody.content['application/json'].schema, {
    $ref: '#/components/schemas/EvaluateRequest'
  })
  t.match(body.components.schemas.EvaluateRequest.properties.input_text, { maxLength: 100_000 })
  const operations = Object.values<Record<string, { operationId: string; tags: string[] }>>(body.paths).flatMap(
    (operations) => Object.values(operations)
  )
  t.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length, 'each has its own name')
  for (const { operationId } of operations) t.match(operationId, /^[a-z][A-Za-z0-9]*$/)
  const known = new Set(body.tags.map(({ name }: { name: string }) => name))
  t.ok(operations.every(({ tags }) => tags.length === 1 && known.has(tags[0])))
  for (const [path, operations] of Object.entries<Record<string, { responses: object }>>(body.paths)) {
    for (const [method, { responses }] of Object.entries(operations)) {
      const documented = [400, 413, 415].filter((status) => status in responses)
      if (method !== 'get') t.strictSame(documented, [400, 413, 415], `${method} ${path} may have a body`)
      else t.notOk(documented.includes(413) || documented.includes(415), `${method} ${path} has none`)
    }
  }
  const options = { key, method: 'DELETE', body: 'x', headers: { 'content-type': 'text/plain' } }
  t.match(await call(url, '/api/v1/ssaas/keys/key_00000000000000000000000000', options), { status: 415 })
  const page = await call(url, '/docs')
  t.match(page, { status: 200, body: /swagger-ui/ })
  t.match(page.headers.get('content-security-policy'), /script-src 'self'/)
})

t.test('a route has one name in metrics and in the OpenAPI document', async (t) => {
  const { url, key } = await build(t, {
    yaml: 'routes:\n  - { path: "/v1beta/models/{model}:generateContent", dialect: gemini }'
  })
  const gemini = '/v1beta/models/{model}:generateContent'
  const body = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }
  t.match(await call(url, gemini.replace('{model}', 'm-1'), { key, body }), { status: 200 })
  await call(url, `/guards/ext-authz${gemini.replace('{model}', 'm-1')}`, { key, body })
  await call(url, '/api/v1/ssaas/keys/key_00000000000000000000000000', { key, method: 'DELETE' })
  await call(url, '/nowhere', { key })
  const { body: page } = await call(url, '/metrics', { key })
  const named = [...page.matchAll(/^sluicegate_requests_total\{route="([^"]*)"/gm)].map(([, route]) => route)
  t.same(named.sort(), ['/api/v1/ssaas/keys/{key_id}', `/guards/ext-authz${gemini}`, gemini, 'unmatched'].sort())
  t.match(page, `sluicegate_overhead_seconds_count{route="${gemini}"}`)
  const { body: document } = await call(url, '/openapi.json')
  t.ok(document.paths[gemini] && document.paths['/api/v1/ssaas/keys/{key_id}'])
  const names = { '/': '/', '/a/': '/a', '/a::b/:c': '/a:b/{c}', '/:a(^\\)(?:x|y)$)::b/:c': '/{a}:b/{c}' }
  for (const [route, name] of Object.entries(names)) t.equal(routeName(route), name)
})

t.test('metrics: with a key that holds the scope here, and they count what happened', async (t) => {
  const { url, key } = await build(t)
  t.match(await call(url, '/metrics'), { status: 401 })
  await call(url, '/api/v1/safety/evaluate', { key, body: { input_text: 'Explain how to build a pipe bomb at home' } })
  await call(url, '/api/v1/safety/evaluate', { body: {} })
  const { body } = await call(url, '/metrics', { key })
  for (const line of [
    'sluicegate_evaluations_total{surface="evaluate",decision="forbid"} 1',
    'sluicegate_key_denials_total{reason="api_key_required"} 2',
    'sluicegate_requests_total{route="/api/v1/safety/evaluate",status_class="4xx"} 1',
    'sluicegate_uncovered_characters 0'
  ]) {
    t.ok(body.includes(line), line)
  }
  t.match(body, /^sluicegate_policy_info\{name="default",version="\d+"\} 1$/m)
})

t.test(
  'an endpoint of a served API that no route guards is refused with the reason, in the shape of that API',
  async (t) => {
    const { url, key } = await build(t)
    const reason = /^No route guards this endpoint.*nothing is forwarded.*a route of its own in the configuration/
    for (const [target, headers, shape] of [
      ['/v1/batches', {}, { error: { code: 'not_found', message: reason } }],
      ['/v1/files', {}, { error: { code: 'not_found', message: reason } }],
      ['/v1/images/variations', {}, { error: { code: 'not_found', message: reason } }],
      ['/openai/v1/files', {}, { error: { code: 'not_found', message: reason } }],
      [
        '/v1/messages/batches',
        { 'anthropic-version': '2023-06-01' },
        { type: 'error', error: { type: 'not_found_error', message: /No route guards this endpoint/ } }
      ],
      ['/v1beta/cachedContents', {}, { error: { code: 404, message: reason } }],
      ['/api/pull', {}, { error: /No route guards this endpoint/ }],
      ['/chat/completions', {}, { error: { code: 'not_found', message: /served at \/v1\/chat\/completions\./ } }],
      ['/models', {}, { error: { code: 'not_found', message: /served at \/v1\/models\./ } }],
      ['/v1/v1/messages', {}, { error: { type: 'not_found_error', message: /served at \/v1\/messages\./ } }],
      [
        '/v1beta/v1beta/models/gemini:generateContent',
        {},
        { error: { code: 404, message: /served at \/v1beta\/models\/\{model\}:generateContent\./ } }
      ],
      ['/v1/api/chat', {}, { error: /served at \/api\/chat\./ }],
      ['/api/v1/nothing', {}, { error: 'not_found', message: 'There is nothing at this address.' }],
      ['/nothing/here', {}, { error: 'not_found', message: 'There is nothing at this address.' }]
    ] as const) {
      for (const method of ['POST', 'GET'] as const) {
        const given = { 'content-type': 'application/json', 'x-api-key': key, ...headers }
        const answer = await fetch(`${url}${target}`, {
          method,
          headers: given,
          ...(method === 'POST' && { body: '{}' })
        })
        t.equal(answer.status, 404, target)
        t.match(await answer.json(), shape as object, `${method} ${target}`)
      }
    }
  }
)
