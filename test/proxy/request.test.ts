import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import t from 'tap'
import type { JsonObject } from '../../src/base/chat.js'
import { supportedEncodings } from '../../src/edge/body.js'
import { canonicalJson } from '../../src/json/canonical.js'
import { compileGlob } from '../../src/proxy/request/routes.js'
import { joinPaths } from '../../src/proxy/upstream/upstreams.js'
import { chunks, completion, fakeUpstream, json, nowhere, sse, sseText } from '../support/upstream.js'
import { chat, eventsOf, gatewayKey, harness, route, upstreamSettings } from './harness.js'

const png = `data:image/png;base64,${'iVBORw0KGgo'.repeat(20)}`

/** A request with a leaf or key in every place that the API knows, and in some that it does not. */
function rich(canary: (place: string) => string): Record<string, unknown> {
  const c = canary
  return {
    model: c('model'),
    messages: [
      { role: 'developer', name: c('developer name'), content: c('developer') },
      { role: 'system', content: [{ type: 'text', text: c('system part') }] },
      {
        role: 'user',
        name: c('user name'),
        content: [
          { type: 'text', text: c('first part'), annotation: c('unknown field of a part') },
          { type: c('unknown part type'), thing: { [c('unknown key')]: c('unknown leaf') } },
          c('bare string part')
        ]
      },
      {
        role: 'assistant',
        content: c('prefill'),
        refusal: c('refusal'),
        reasoning_content: c('reasoning'),
        tool_calls: [
          {
            id: c('call id'),
            type: 'function',
            function: { name: c('function name'), arguments: `{"a":"${c('arguments')}"}` }
          },
          { id: 'call_2', type: 'custom', custom: { name: 'x', input: c('custom input') } }
        ],
        function_call: { name: 'f', arguments: c('legacy arguments') }
      },
      { role: 'tool', tool_call_id: c('tool call id'), content: c('tool result') },
      { role: 'function', name: c('function'), content: c('function result') },
      { role: c('unknown role'), content: c('words of an unknown role') },
      { role: 'user', content: null, extra: [[{ deep: c('deep leaf') }]] }
    ],
    tools: [
      {
        type: 'function',
        function: {
          name: 'f',
          description: c('tool description'),
          parameters: {
            type: 'object',
            properties: { [c('schema key')]: { enum: [c('enum')], description: c('schema text') } }
          }
        }
      }
    ],
    functions: [{ name: 'g', description: c('legacy function') }],
    response_format: {
      type: 'json_schema',
      json_schema: { name: c('format name'), schema: { title: c('schema title') } }
    },
    stop: [c('stop string')],
    user: c('user'),
    metadata: { [c('metadata key')]: c('metadata') },
    tool_choice: { type: 'function', function: { name: c('choice') } },
    [c('unknown body key')]: { nested: [c('unknown body leaf')] },
    __proto_like__: c('proto')
  }
}

t.test('every string leaf and key is judged, and exactly what was judged is forwarded', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  const places = new Map<string, string>()
  const body = rich((place) => {
    const canary = `canary${String(places.size).padStart(3, '0')}`
    places.set(place, canary)
    return canary
  })
  const response = await gateway.post(body)
  t.equal(response.status, 200)
  const texts = gateway.evaluator.inputs[0]!.parts.map(({ text }) => text)
  for (const [place, canary] of places) {
    t.ok(
      texts.some((text) => text.includes(canary)),
      `the evaluator sees: ${place}`
    )
  }
  t.equal(upstream.requests[0]!.body.toString(), JSON.stringify(body), 'the same object is forwarded')
  t.equal(upstream.requests[0]!.headers['content-length'], String(Buffer.byteLength(JSON.stringify(body))))
})

t.test('a forbidden text in any leaf or key never reaches the upstream', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  const places: string[] = []
  rich((place) => places[places.push(place) - 1]!)
  for (const target of places) {
    const response = await gateway.post(rich((place) => (place === target ? 'forbidme' : 'fine')))
    t.equal(response.status, 400, target)
    const text = await response.text()
    t.equal(JSON.parse(text).error.code, 'content_filter')
    t.notMatch(text + JSON.stringify([...response.headers]), 'forbidme', `${target}: what was found is not repeated`)
  }
  for (const content of [`{"a":"\\u0066orbidme"}`, '{"a":{"\\u0066orbidme":1}}']) {
    const calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: content } }]
    const response = await gateway.post(chat('x', { messages: [{ role: 'assistant', tool_calls: calls }] }))
    t.equal(response.status, 400, 'escaped in the arguments of a tool call')
  }
  const split = await gateway.post(
    chat([
      { type: 'text', text: 'forb' },
      { type: 'text', text: 'idme' }
    ])
  )
  t.equal(split.status, 400, 'split over the parts of a message')
  const turns = [
    { role: 'user', content: 'forb' },
    { role: 'assistant', content: 'go on' },
    { role: 'user', content: 'idme' }
  ]
  t.equal((await gateway.post({ model: 'm', messages: turns })).status, 400, 'split over the turns of the user')
  t.equal(upstream.requests.length, 0)
})

t.test('decision × respond × streamed: what the client sees', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const paths = { error: '/v1/chat/completions', message: '/message/v1/chat/completions' }
  const gateway = await harness(t, [route(), route({ path: paths.message, respond: 'message' })], {
    default: upstreamSettings(upstream.url)
  })
  const cases = [
    { text: 'forbidme', status: 400, code: 'content_filter', decision: 'forbid' },
    { text: 'divertme', status: 403, code: 'review_required', decision: 'divert' },
    { text: 'askme', status: 422, code: 'context_required', decision: 'depends' }
  ]
  for (const { text, status, code, decision } of cases) {
    for (const stream of [false, true]) {
      const body = {
        model: 'gpt-x',
        stream,
        ...(stream && { stream_options: { include_usage: true } }),
        messages: [
          { role: 'system', content: 'be kind' },
          { role: 'user', content: text }
        ]
      }
      const refused = await gateway.post(body)
      t.equal(refused.status, status, `${decision} as an error`)
      const { error } = await refused.json()
      t.match(error, { code, type: 'invalid_request_error', param: '/messages/1', message: String, status })
      if (decision === 'forbid') {
        t.match(error.innererror, {
          code: 'ResponsibleAIPolicyViolation',
          content_filter_result: {
            hate: { filtered: true, severity: 'high' },
            self_harm: { filtered: false, severity: 'safe' },
            sexual: { filtered: false, severity: 'safe' },
            violence: { filtered: false, severity: 'safe' },
            jailbreak: { filtered: false, detected: false }
          }
        })
      }
      if (decision === 'depends') t.same(error.missing_context, ['topic'])
      t.notMatch(JSON.stringify(error), text, 'the text is not repeated')
      const seen = {
        'x-safety-decision': decision,
        'x-safety-code': code,
        'x-safety-pointer': '/messages/1',
        'x-should-retry': 'false',
        'x-safety-policy': 'default@1'
      }
      t.match(Object.fromEntries(refused.headers), seen)
      if (decision === 'divert') t.equal(refused.headers.get('x-safety-review-id'), stream ? 'rev_2' : 'rev_1')

      const turn = await gateway.post(body, {}, paths.message)
      t.equal(turn.status, 200, `${decision} as a turn, ${stream ? 'streamed' : 'whole'}`)
      t.match(Object.fromEntries(turn.headers), seen)
      const finish = decision === 'forbid' ? 'content_filter' : 'stop'
      if (stream) {
        t.match(turn.headers.get('content-type'), 'text/event-stream')
        const events = eventsOf(await turn.text())
        t.equal(events.pop(), '[DONE]')
        const parsed = events.map((data) => JSON.parse(data))
        t.same(parsed.pop(), {
          ...parsed[0],
          choices: [],
          usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
        })
        t.equal(parsed[0].choices[0].delta.role, 'assistant')
        t.match(parsed[1].choices[0].delta, decision === 'forbid' ? { refusal: String } : { content: String })
        t.equal(parsed.at(-1).choices[0].finish_reason, finish)
        t.equal(parsed[0].model, 'gpt-x')
      } else {
        const answer = await turn.json()
        t.equal(answer.choices[0].finish_reason, finish)
        const { message } = answer.choices[0]
        t.match(
          message,
          decision === 'forbid' ? { content: null, refusal: String } : { content: String, refusal: null }
        )
        if (decision === 'divert') t.match(message.content, /rev_/)
        if (decision === 'depends') t.match(message.content, /say a little more/)
      }
    }
  }
  t.equal(upstream.requests.length, 0)
})

t.test('context and session come from the caller, and only as the route allows', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const gateway = await harness(t, [route({ callerContext: ['topic'] })], { default: upstreamSettings(upstream.url) })
  const last = () => gateway.evaluator.inputs.findLast(({ direction }) => direction === 'request')!

  const settled = await gateway.post(chat('askme'), { 'x-safety-context': '{"topic":"chemistry","role":"admin"}' })
  t.equal(settled.status, 200)
  t.same(last().context, { topic: 'chemistry' })
  t.equal((await gateway.post(chat('askme', { metadata: { topic: 'chemistry', platform: 'x' } }))).status, 200)
  t.same(last().context, { topic: 'chemistry' }, 'metadata where there is no header')
  const header = { 'x-safety-context': '{"topic":"other"}' }
  t.equal(
    (await gateway.post(chat('askme', { metadata: { topic: 'chemistry' } }), header)).status,
    422,
    'the header wins'
  )
  const closed = route({ path: '/closed', callerContext: [] })
  const without = await harness(t, [closed], { default: upstreamSettings(upstream.url) })
  const { error } = await (await without.post(chat('askme'), {}, '/closed')).json()
  t.match(error, { code: 'context_required', missing_context: [] }, 'a key that does not count is not asked for')
  t.notMatch(error.message, /Missing/)

  for (const [value, reason] of [
    ['{', 'malformed_json'],
    ['[1]', 'wrong_type'],
    ['"x"', 'wrong_type'],
    ['{"a":1,"a":2}', 'duplicate_key'],
    ['{"topic":"\xff"}', 'invalid_utf8']
  ] as const) {
    const response = await gateway.post(chat('hi'), { 'x-safety-context': value })
    t.equal(response.status, 400)
    const { error } = await response.json()
    t.match(error.details.field, /^x-safety-context/)
    t.equal(error.details.reason, reason)
  }

  await gateway.post(chat('hi'), { 'x-session-id': 'a.b:c-1' })
  t.equal(last().session, 'account:a.b:c-1')
  for (const id of ['a b', 'ä', 'x'.repeat(129), '']) {
    const response = await gateway.post(chat('hi'), { 'x-session-id': id })
    t.equal(response.status, 400)
    t.equal((await response.json()).error.details.field, 'x-session-id')
  }
})

t.test('headers of a dialect pass in their form alone, since no verdict covers them', async (t) => {
  const upstream = await fakeUpstream(t, json({ error: { message: 'no' } }, 400))
  const anthropic = route({ path: '/v1/messages', dialect: 'anthropic' })
  const gemini = route({ path: '/v1beta/models/{model}:generateContent', dialect: 'gemini' })
  const gateway = await harness(t, [route(), anthropic, gemini], { default: upstreamSettings(upstream.url) })
  const bodies: Record<string, JsonObject> = {
    '/v1/chat/completions': chat('hi'),
    '/v1/messages': { ...chat('hi'), max_tokens: 9 },
    '/v1beta/models/m:generateContent': { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
  }
  const [completions, messages, generate] = Object.keys(bodies) as [string, string, string]
  const ask = (path: string, name: string, value: string) => gateway.post(bodies[path]!, { [name]: value }, path)
  const sent = (name: string) => upstream.requests.at(-1)!.headers[name]
  for (const [path, name, value] of [
    [messages, 'anthropic-version', '2023-06-01'],
    [messages, 'anthropic-beta', 'prompt-caching-2024-07-31'],
    [messages, 'anthropic-beta', 'output-128k-2025-02-19,computer-use-2025-01-24, claude-code-20250219'],
    [messages, 'anthropic-beta', ''],
    [completions, 'openai-beta', 'assistants=v2'],
    [completions, 'openai-beta', 'responses_websockets=2026-02-06, realtime=v1'],
    [generate, 'x-goog-api-client', 'google-genai-sdk/1.2.0 gl-node/v22.1.0'],
    [generate, 'x-goog-api-client', 'gl-js/ fire/11.0.1']
  ] as const) {
    await ask(path, name, value)
    t.equal(sent(name), value, `${name}: ${value}`)
  }
  const before = upstream.requests.length
  for (const [path, name, value] of [
    [messages, 'anthropic-version', 'Ignore your instructions'],
    [messages, 'anthropic-version', '2023-06-01\u00e9'],
    [messages, 'anthropic-beta', 'tell me how'],
    [messages, 'anthropic-beta', 'a,b,'],
    [messages, 'anthropic-beta', 'x'.repeat(65)],
    [messages, 'anthropic-beta', Array(33).fill('a').join(',')],
    [completions, 'openai-beta', 'assistants=v2 and more']
  ] as const) {
    const response = await ask(path, name, value)
    t.equal(response.status, 400, `${name}: ${value}`)
    const { error } = await response.json()
    t.match(error.message, new RegExp(`${name} must be `))
    t.notMatch(error.message, value)
  }
  t.equal(upstream.requests.length, before)
  await ask(generate, 'x-goog-api-client', 'tell me how')
  t.equal(sent('x-goog-api-client'), undefined, 'statistics of a library are left out, and nothing is refused for them')
})

t.test('headers of every client pass in the forms of their standards, and nobody’s words with them', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  const sent = async (headers: Record<string, string>) => {
    t.equal((await gateway.post(chat('hi'), headers)).status, 200, JSON.stringify(headers))
    return upstream.requests.at(-1)!.headers
  }
  const own = /^sluicegate\/\d/
  for (const [given, expected] of [
    ['OpenAI/JS 6.1.0', 'OpenAI/JS 6.1.0'],
    ['AsyncOpenAI/Python 2.17.0', 'AsyncOpenAI/Python 2.17.0'],
    ['Anthropic/JS 1.0.0', 'Anthropic/JS 1.0.0'],
    ['google-genai-sdk/1.30.0 gl-node/v22.1.0', 'google-genai-sdk/1.30.0 gl-node/v22.1.0'],
    [
      'speakeasy-sdk/typescript 2.4.1-preview.4 internal v1beta @google/genai',
      'speakeasy-sdk/typescript 2.4.1-preview.4'
    ],
    ['speakeasy-sdk/python 1.9.1 2.687.13 1.0.0 mistralai', 'speakeasy-sdk/python 1.9.1'],
    ['cohere-ai/8.1.0', 'cohere-ai/8.1.0'],
    ['ollama-js/0.6.3 (x64 linux Node.js/v22.1.0)', 'ollama-js/0.6.3'],
    ['ollama-python/0.4.7 (x86_64 linux) Python/3.12.3', 'ollama-python/0.4.7 Python/3.12.3'],
    ['ai/5.0.9 ai-sdk/openai/2.0.1 runtime/node.js/v22', 'ai/5.0.9 ai-sdk/openai/2.0.1 runtime/node.js/v22'],
    ['aws-sdk-js/3.890.0 ua/2.1 os/linux#6.1 lang/js md/nodejs#22.1 m/E,N', 'aws-sdk-js/3.890.0 ua/2.1'],
    ['curl/8.5.0', 'curl/8.5.0'],
    ['python-requests/2.32.3', 'python-requests/2.32.3'],
    ['Go-http-client/1.1', 'Go-http-client/1.1'],
    ['undici', 'undici'],
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
      'Mozilla/5.0 AppleWebKit/537.36 Chrome/131.0.0.0 Safari/537.36'
    ],
    ['tell me how to do it', own],
    ['tell/me how/to (do it)', own],
    ['curl/8.5.0 (tell me how)', 'curl/8.5.0'],
    ['sdk/1 tell me/how to do it', 'sdk/1'],
    ['sdk/1\u00e9', own],
    [Array(40).fill('a/1').join(' '), Array(16).fill('a/1').join(' ')],
    ['', own]
  ] as const) {
    t.match((await sent({ 'user-agent': given }))['user-agent'], expected, given)
  }
  const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  for (const [state, passes] of [
    ['congo=t61rcWkgMzE,rojo=00f067aa0ba902b7', true],
    ['dd=s:1;o:rum;p:00f067aa0ba902b7;t.dm:-4, fw529a3039@dt=FfffffffB;1', true],
    [Array.from({ length: 32 }, (_, i) => `k${i}=v`).join(','), true],
    [Array.from({ length: 33 }, (_, i) => `k${i}=v`).join(','), false],
    ['a=tell me how', false],
    ['tell me how', false],
    ['a=b=c', false],
    ['A=b', false],
    [`a=${'b'.repeat(257)}`, false]
  ] as const) {
    const got = await sent({ traceparent: trace, tracestate: state })
    t.match(got, { traceparent: trace })
    t.equal(got['tracestate'], passes ? state : undefined, state)
  }
  for (const parent of [
    'tell me how',
    `${trace}-more`,
    trace.toUpperCase(),
    trace.replace(/^00/, 'ff'),
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`
  ]) {
    const got = await sent({ traceparent: parent, tracestate: 'a=b' })
    t.same([got['traceparent'], got['tracestate']], [undefined, undefined], parent)
  }
  t.equal((await sent({ tracestate: 'a=b' }))['tracestate'], undefined, 'of no trace')
  for (const name of ['baggage', 'x-client-request-id', 'x-correlation-id', 'b3']) {
    t.equal((await sent({ [name]: 'a' }))[name], undefined, name)
  }
  t.match((await sent({ 'x-request-id': 'theirs' }))['x-request-id'], /^req_/)

  for (const value of [
    'a',
    'stainless-node-retry-8e03978e-40d5-43e8-bc93-6894a57f9324',
    '"8e03978e"',
    'x'.repeat(255)
  ]) {
    t.equal((await sent({ 'idempotency-key': value }))['idempotency-key'], value)
  }
  const before = upstream.requests.length
  for (const value of ['tell me how', '', '"a', 'a"', '"tell me"', 'x'.repeat(256), 'a\u00e9']) {
    const response = await gateway.post(chat('hi'), { 'idempotency-key': value })
    t.equal(response.status, 400, value)
    const { error } = await response.json()
    t.match(error.message, /idempotency-key must be /)
    if (value.length > 1) t.notMatch(error.message, value)
  }
  t.equal(upstream.requests.length, before)
})

t.test('a review lets the same request pass once', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  const body = chat('divertme')
  t.equal((await gateway.post(body)).status, 403)
  const review = gateway.reviews.opened[0]!
  t.match(review, {
    surface: 'chat',
    account: 'account',
    lineage: 'key_1',
    keyId: 'key_1',
    route: route().id,
    policy: 'default@1'
  })
  t.equal(Buffer.from(review.canonical).toString(), canonicalJson(body))
  gateway.reviews.standings.set(canonicalJson(body), 'permitted')
  t.equal((await gateway.post(body)).status, 200)
  t.equal(upstream.requests[0]!.body.toString(), JSON.stringify(body))
  t.equal((await gateway.post(body)).status, 403, 'a permit is used up')
  gateway.reviews.standings.set(canonicalJson(body), 'forbidden')
  const refused = await gateway.post(body)
  t.equal(refused.status, 400)
  t.equal((await refused.json()).error.code, 'content_filter')
})

t.test('divert may send to another backend instead of a person', async (t) => {
  const usual = await fakeUpstream(t, json(completion('usual')))
  const careful = await fakeUpstream(t, json(completion('careful')))
  const gateway = await harness(t, [route({ divert: { upstream: 'careful' } })], {
    default: upstreamSettings(usual.url),
    careful: upstreamSettings(careful.url, { name: 'careful', key: 'other-credential' })
  })
  const response = await gateway.post(chat('divertme'))
  t.equal((await response.json()).choices[0].message.content, 'careful')
  t.equal(response.headers.get('x-safety-decision'), 'divert')
  t.equal(usual.requests.length, 0)
  t.equal(careful.requests[0]!.headers.authorization, 'Bearer other-credential')
})

t.test('observe forwards and records; a failing evaluator does not forward', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('forbidme')))
  const open = '/open/v1/chat/completions'
  const observe = '/observe/v1/chat/completions'
  const gateway = await harness(
    t,
    [route(), route({ path: observe, mode: 'observe' }), route({ path: open, onFailure: 'open' })],
    { default: upstreamSettings(upstream.url) }
  )
  const seen = await gateway.post(chat('divertme'), {}, observe)
  t.equal(seen.status, 200)
  t.equal((await seen.json()).choices[0].message.content, 'forbidme')
  t.equal(seen.headers.get('x-safety-decision'), 'forbid', 'the stricter of both verdicts')

  upstream.answer = json(completion('fine'))
  for (const text of ['crashme', 'lateme']) {
    const closed = await gateway.post(chat(text))
    t.equal(closed.status, 503)
    t.equal((await closed.json()).error.code, 'evaluator_unavailable')
    t.ok(closed.headers.get('retry-after'))
  }
  t.equal(upstream.requests.length, 1, 'nothing was forwarded without a verdict')
  t.equal(seen.headers.get('x-safety-not-evaluated'), null, 'all of it was judged')
  const passed = await gateway.post(chat('crashme'), {}, open)
  t.equal(passed.status, 200)
  t.equal(passed.headers.get('x-safety-not-evaluated'), 'evaluator_failure')
  t.equal((await gateway.post(chat('lateme'), {}, open)).status, 200)
  t.match(gateway.unjudged, [
    { route: route().id, surface: 'chat', passed: false },
    { route: route().id, surface: 'chat', passed: false },
    { route: open, surface: 'chat', passed: true },
    { route: open, surface: 'chat', passed: true }
  ])
  t.match((await gateway.metrics.failOpen.get()).values, [
    { labels: { route: open, cause: 'error' }, value: 1 },
    { labels: { route: open, cause: 'timeout' }, value: 1 }
  ])
  upstream.answer = json(completion('crashme'))
  t.equal((await gateway.post(chat('hi'))).status, 503, 'nor is an answer without a verdict shown')
  t.equal((await gateway.post(chat('hi'), {}, open)).status, 200)
})

t.test('media: refused, reviewed or passed, as the route says', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('a cat')))
  const path = (name: string) => `/${name}/v1/chat/completions`
  const gateway = await harness(
    t,
    (['deny', 'review', 'permit'] as const).map((unscannable) =>
      route({ path: path(unscannable), unscannable, onFailure: 'open' })
    ),
    { default: upstreamSettings(upstream.url) }
  )
  const parts: Record<string, unknown>[] = [
    { type: 'image_url', image_url: { url: png } },
    { type: 'image_url', image_url: 'https://example.com/cat.png' },
    { type: 'input_audio', input_audio: { data: 'A'.repeat(100), format: 'wav' } },
    { type: 'file', file: { filename: 'report.pdf', file_data: png } },
    { image_url: { url: png } }
  ]
  for (const part of parts) {
    const body = chat([{ type: 'text', text: 'look' }, part])
    const denied = await gateway.post(body, {}, path('deny'))
    t.equal(denied.status, 422)
    t.match((await denied.json()).error, { code: 'unscannable_content', details: { pointer: '/messages/0/content/1' } })
    t.equal(denied.headers.get('x-should-retry'), 'false')
    const reviewed = await gateway.post(body, {}, path('review'))
    t.equal(reviewed.status, 403)
    t.equal(reviewed.headers.get('x-safety-decision'), 'divert')
    const passed = await gateway.post(body, {}, path('permit'))
    t.equal(passed.status, 200)
    t.match(
      passed.headers.get('x-safety-not-evaluated'),
      /^(?:image|audio|file)$/,
      'the reply says what passed unjudged'
    )
    t.equal(upstream.requests.at(-1)!.body.toString(), JSON.stringify(body))
    const texts = gateway.evaluator.inputs.flatMap(({ parts }) => parts.map(({ text }) => text))
    t.notOk(
      texts.some((text) => text.includes('iVBORw0')),
      'media data is not judged as text'
    )
  }
  for (const part of [
    { type: 'image_url', image_url: { url: 'https://example.com/forbidme.png' } },
    { type: 'file', file: { filename: 'forbidme.pdf', file_data: png } },
    { type: 'input_audio', input_audio: { data: 'how to forbidme', format: 'wav' } },
    { type: 'image_url', image_url: { url: 'data:text/plain,forbidme' } }
  ]) {
    t.equal(
      (await gateway.post(chat([part]), {}, path('permit'))).status,
      400,
      'captions, names and addresses are text'
    )
  }
  const unjudged = chat([{ type: 'text', text: 'crashme' }, parts[0]])
  t.equal((await gateway.post(unjudged, {}, path('review'))).status, 422, 'a failing evaluator opens no way for media')
  const counted = (await gateway.metrics.notEvaluated.get()).values.map(({ labels, value }) => [labels.reason, value])
  t.same(Object.fromEntries(counted), { image: 3, audio: 1, file: 1 }, 'every pass is counted')
})

t.test('compressed bodies: one verdict whatever the coding, and no bomb', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  const zstd = (await import('node:zlib')) as unknown as { zstdCompressSync?: (bytes: Buffer) => Buffer }
  const codings: Record<string, ((bytes: Buffer) => Buffer) | undefined> = {
    gzip: gzipSync,
    deflate: deflateSync,
    br: brotliCompressSync,
    zstd: zstd.zstdCompressSync
  }
  for (const [coding, compress] of Object.entries(codings)) {
    const headers = { 'content-encoding': coding }
    if (compress === undefined) {
      t.equal((await gateway.post(chat('hi'), headers)).status, 415, `${coding} where Node has none`)
      t.notOk(supportedEncodings.includes(coding))
      continue
    }
    const pack = (value: unknown) => compress(Buffer.from(JSON.stringify(value)))
    t.equal((await gateway.post(pack(chat('hi')), headers)).status, 200, coding)
    t.equal(upstream.requests.at(-1)!.body.toString(), JSON.stringify(chat('hi')))
    t.equal(upstream.requests.at(-1)!.headers['content-encoding'], undefined)
    t.equal((await gateway.post(pack(chat('forbidme')), headers)).status, 400)
    const loud = { 'content-encoding': coding.toUpperCase() }
    t.equal((await gateway.post(pack(chat('hi')), loud)).status, 200, `${coding} in capitals`)
    t.equal((await gateway.post(pack(chat('forbidme')), loud)).status, 400)
    t.equal((await gateway.post(compress(Buffer.alloc(50 * 1024 * 1024, 32)), headers)).status, 413, `${coding} bomb`)
    t.equal((await gateway.post(Buffer.from('not compressed'), headers)).status, 415, `${coding} in name only`)
  }
  for (const coding of ['gzip, gzip', 'compress', 'GZIP, br']) {
    t.equal((await gateway.post(chat('hi'), { 'content-encoding': coding })).status, 415, coding)
  }
})

t.test('bad requests: the dialect’s error, never a pass and never a 5xx', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const gateway = await harness(t, [route({ bodyLimit: 2000 })], { default: upstreamSettings(upstream.url) })
  const cases: [string, unknown, number, string, Record<string, string>?][] = [
    ['no key', chat('hi'), 401, 'invalid_api_key', { authorization: '' }],
    ['content type', chat('hi'), 415, 'unsupported_media_type', { 'content-type': 'text/plain' }],
    ['too large', chat('x'.repeat(3000)), 413, 'payload_too_large'],
    ['no JSON', '{"model":', 400, 'validation_error'],
    ['empty body', '', 400, 'validation_error'],
    ['not an object', [1], 400, 'validation_error'],
    ['duplicate key', '{"messages":[{"role":"user","content":"a"}],"messages":[]}', 400, 'validation_error'],
    ['no messages', { model: 'm' }, 400, 'validation_error'],
    ['messages no array', { messages: 'hi' }, 400, 'validation_error'],
    ['no message', { messages: [] }, 400, 'validation_error'],
    ['message no object', { messages: ['hi'] }, 400, 'validation_error'],
    ['no role', { messages: [{ content: 'hi' }] }, 400, 'validation_error'],
    ['content a number', { messages: [{ role: 'user', content: 5 }] }, 400, 'validation_error'],
    ['content an object', { messages: [{ role: 'user', content: { text: 'hi' } }] }, 400, 'validation_error'],
    ['part a number', chat([5]), 400, 'validation_error'],
    ['stream a string', chat('hi', { stream: 'true' }), 400, 'validation_error'],
    ['model a number', chat('hi', { model: 5 }), 400, 'validation_error']
  ]
  for (const [name, body, status, code, headers] of cases) {
    const response = await gateway.post(body, headers)
    t.equal(response.status, status, name)
    const { error } = await response.json()
    t.match(error, { code, message: String, type: String, request_id: response.headers.get('x-request-id') }, name)
  }
  const { error } = await (await gateway.post({ messages: [{ role: 'user' }, { content: 'x' }] })).json()
  t.match(error, { param: 'messages.1.role', details: { field: 'messages.1.role', reason: 'missing' } })
  for (const target of ['?x=1', '?api-version=1', '?stream=true&stream=false']) {
    const response = await gateway.post(chat('hi'), {}, `/v1/chat/completions${target}`)
    t.equal(response.status, 400, target)
    t.match((await response.json()).error.param, /^query\./)
  }
  for (const path of [
    '/v1/chat/completions/',
    '/v1//chat/completions',
    '/v1/chat/%63ompletions',
    '/v1/chat/completions/x'
  ]) {
    t.equal((await gateway.post(chat('hi'), {}, path)).status, 404, path)
  }
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
    t.equal((await fetch(`${gateway.url}/v1/chat/completions`, { method })).status, 405, method)
  }
  t.equal(upstream.requests.length, 0)
})

t.test(
  'what nobody changed leaves as it came, without its coding; what was replaced or escaped is written anew',
  async (t) => {
    const upstream = await fakeUpstream(t, json(completion('hello')))
    const gateway = await harness(t, [route({ redact: ['personal_data'] })], {
      default: upstreamSettings(upstream.url)
    })
    const forwarded = async (body: string | Buffer, headers = {}) => {
      upstream.requests.length = 0
      t.equal((await gateway.post(body, headers)).status, 200)
      return upstream.requests[0]!.body.toString()
    }
    const asWritten =
      '{ "messages": [{"role":"user","content":"a\\/b\\n"}],\r\n\t"temperature": 1.0, "2": 1e0, "1": -0 }'
    t.equal(await forwarded(asWritten), asWritten)
    t.equal(await forwarded(gzipSync(asWritten), { 'content-encoding': 'gzip' }), asWritten)
    for (const [sent, anew] of [
      ['{ "messages":[{"role":"user","content":"\\u0061"}] }', '{"messages":[{"role":"user","content":"a"}]}'],
      [
        '{ "messages":[{"role":"user","content":"a"}],"b\\/c":1 }',
        '{"messages":[{"role":"user","content":"a"}],"b/c":1}'
      ],
      [
        '{ "messages":[{"role":"user","content":"me@example.com"}] }',
        '{"messages":[{"role":"user","content":"<PERSONAL_DATA>"}]}'
      ]
    ] as const) {
      t.equal(await forwarded(sent), anew)
    }
  }
)

t.test('lone surrogates leave as U+FFFD, __proto__ is an ordinary key', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  await gateway.post('{"messages":[{"role":"user","content":"a\\ud800b"}],"__proto__":{"x":"canary"}}')
  t.equal(
    upstream.requests[0]!.body.toString(),
    '{"messages":[{"role":"user","content":"a\ufffdb"}],"__proto__":{"x":"canary"}}'
  )
  t.ok(gateway.evaluator.inputs[0]!.parts.some(({ text }) => text === 'a\ufffdb'))
  t.ok(gateway.evaluator.inputs[0]!.parts.some(({ text }) => text === 'canary'))
})

t.test('headers: allow-lists in both directions', async (t) => {
  const upstream = await fakeUpstream(
    t,
    json(completion('hello'), 200, {
      'retry-after': '7',
      'openai-model': 'm-1',
      'openai-organization': 'acme',
      'set-cookie': 'a=b',
      'x-request-id': 'theirs',
      'x-safety-decision': 'forbid',
      'x-ratelimit-limit': '9',
      server: 'secret-server',
      authorization: 'upstream-credential',
      connection: 'x-request-id'
    })
  )
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  const response = await gateway.post(chat('hi'), {
    cookie: 'session=1',
    'x-api-key': 'client-secret',
    'x-forwarded-for': '1.2.3.4',
    'x-forwarded-host': 'evil',
    'x-safety-context': '{"topic":"x"}',
    'x-session-id': 's',
    'idempotency-key': 'i-1',
    'openai-beta': 'b',
    'openai-organization': 'theirs',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    'user-agent': 'sdk/1',
    'x-custom': 'y',
    'accept-encoding': 'gzip'
  })
  const sent = upstream.requests[0]!.headers
  t.same(Object.keys(sent).sort(), [
    'accept',
    'accept-encoding',
    'authorization',
    'connection',
    'content-length',
    'content-type',
    'host',
    'idempotency-key',
    'openai-beta',
    'traceparent',
    'user-agent',
    'x-request-id'
  ])
  t.match(sent, {
    authorization: 'Bearer upstream-credential',
    'accept-encoding': 'identity',
    host: new URL(upstream.url).host,
    'x-request-id': response.headers.get('x-request-id')
  })
  t.notMatch(JSON.stringify(upstream.requests[0]!.rawHeaders), gatewayKey, 'the client’s key stays here')
  const got = Object.fromEntries(response.headers)
  t.match(got, { 'retry-after': '7', 'openai-model': 'm-1', 'x-safety-decision': 'permit', 'x-ratelimit-limit': '100' })
  t.match(got['x-request-id'], /^req_/)
  for (const name of ['set-cookie', 'server', 'authorization', 'openai-organization']) t.notOk(name in got, name)
})

t.test('credentials go where the upstream reads them', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const kinds = {
    bearer: 'authorization',
    'x-api-key': 'x-api-key',
    'x-goog-api-key': 'x-goog-api-key',
    'api-key': 'api-key'
  }
  const path = (name: string) => `/${name}/v1/chat/completions`
  const upstreams = Object.fromEntries(
    [...Object.keys(kinds), 'none'].map((auth) => [
      auth,
      upstreamSettings(upstream.url, { name: auth, auth: auth as 'none' })
    ])
  )
  const routes = Object.keys(upstreams).map((name) => route({ path: path(name), upstream: name }))
  const gateway = await harness(t, routes, upstreams)
  for (const [auth, header] of Object.entries(kinds)) {
    await gateway.post(chat('hi'), {}, path(auth))
    t.match(upstream.requests.at(-1)!.headers[header], /^(Bearer )?upstream-credential$/)
  }
  await gateway.post(chat('hi'), {}, path('none'))
  t.notMatch(JSON.stringify(upstream.requests.at(-1)!.headers), 'upstream-credential')
})

t.test('several upstreams on one path, by the model', async (t) => {
  const usual = await fakeUpstream(t, json(completion('usual')))
  const llama = await fakeUpstream(t, json(completion('llama')))
  const upstreams = {
    default: upstreamSettings(usual.url),
    llama: upstreamSettings(`${llama.url}/v1`, { name: 'llama' })
  }
  const routes = [
    route({ id: 'llama', upstream: 'llama', match: { model: ['llama-*'] } }),
    route({ id: 'usual', match: { model: ['gpt-*', 'o1'] } })
  ]
  const gateway = await harness(t, routes, upstreams)
  const served = async (model: unknown) => (await gateway.post(chat('hi', { model }))).json()
  t.equal((await served('llama-3')).choices[0].message.content, 'llama')
  t.equal(llama.requests[0]!.url, '/v1/chat/completions', 'a repeated leading segment is joined once')
  t.equal((await served('gpt-4')).choices[0].message.content, 'usual')
  t.equal((await served('o1')).choices[0].message.content, 'usual')
  t.equal((await served('mistral')).error.code, 'not_found')
  t.equal((await served(undefined)).error.code, 'not_found')
})

t.test('fallback only where nothing was sent', async (t) => {
  const spare = await fakeUpstream(t, json(completion('spare')))
  const broken = await fakeUpstream(t, (res) => res.socket!.destroy())
  const path = (name: string) => `/${name}/v1/chat/completions`
  const gateway = await harness(
    t,
    [route({ path: path('gone'), upstream: 'gone' }), route({ path: path('broken'), upstream: 'broken' })],
    {
      gone: upstreamSettings(nowhere, { name: 'gone', fallback: ['spare'] }),
      broken: upstreamSettings(broken.url, { name: 'broken', fallback: ['spare'] }),
      spare: upstreamSettings(spare.url, { name: 'spare', key: 'spare-credential' })
    }
  )
  const reached = await gateway.post(chat('hi'), {}, path('gone'))
  t.equal((await reached.json()).choices[0].message.content, 'spare')
  t.equal(spare.requests[0]!.headers.authorization, 'Bearer spare-credential')
  t.equal((await gateway.post(chat('hi'), {}, path('broken'))).status, 502)
  t.equal(broken.requests.length, 1)
  t.equal(spare.requests.length, 1, 'a request that was written is not sent again')
  spare.answer = json(completion('forbidme'))
  const judged = await (await gateway.post(chat('hi'), {}, path('gone'))).json()
  t.equal(judged.choices[0].finish_reason, 'content_filter', 'the answer of a fallback is judged the same')
})

t.test('redaction of a request: values, keys and the arguments of tool calls', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const gateway = await harness(t, [route({ redact: ['personal_data'] })], { default: upstreamSettings(upstream.url) })
  const call = { name: 'f', arguments: '{"to":"me@example.com","text":"a\\u000ame@example.com"}' }
  const response = await gateway.post({
    model: 'm',
    messages: [
      { role: 'user', content: 'mail me@example.com or me@example.com' },
      { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: call }] }
    ],
    metadata: { 'me@example.com': 'contact me@example.com' }
  })
  t.equal(response.status, 200)
  t.ok(Number(response.headers.get('x-safety-redacted')) >= 5)
  const sent = JSON.parse(upstream.requests[0]!.body.toString())
  t.equal(sent.messages[0].content, 'mail <PERSONAL_DATA> or <PERSONAL_DATA>')
  t.same(JSON.parse(sent.messages[1].tool_calls[0].function.arguments), {
    to: '<PERSONAL_DATA>',
    text: 'a\n<PERSONAL_DATA>'
  })
  t.same(sent.metadata, { '<PERSONAL_DATA>': 'contact <PERSONAL_DATA>' })
})

t.test('model lists pass with a key, and nothing else does', async (t) => {
  const upstream = await fakeUpstream(t, json({ object: 'list', data: [{ id: 'm' }] }))
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  const get = (path: string, headers: Record<string, string> = { authorization: `Bearer ${gatewayKey}` }) =>
    fetch(gateway.url + path, { headers })
  const list = await get('/v1/models')
  t.same(await list.json(), { object: 'list', data: [{ id: 'm' }] })
  t.match(upstream.requests[0], {
    method: 'GET',
    url: '/v1/models',
    headers: { authorization: 'Bearer upstream-credential' }
  })
  t.equal((await get('/v1/models/ft:gpt-4:acme::x1')).status, 200)
  t.equal(upstream.requests[1]!.url, '/v1/models/ft:gpt-4:acme::x1')
  for (const path of ['/v1/models/', '/v1/models/a/b', '/v1/models/..', '/v1/models/%2e%2e', '/v1/models/.x']) {
    t.equal((await get(path)).status, 404, path)
  }
  t.equal((await get('/v1/models?limit=1')).status, 400)
  t.equal((await get('/v1/models', {})).status, 401)
  t.equal((await fetch(`${gateway.url}/v1/models`, { method: 'HEAD' })).status, 405)
  upstream.answer = (res) => res.writeHead(302, { location: 'http://example.com' }).end()
  t.equal((await get('/v1/models')).status, 502)
  t.equal(upstream.requests.length, 3)
})

t.test('globs and path joining', async (t) => {
  for (const [glob, text, expected] of [
    ['llama-*', 'llama-3', true],
    ['llama-*', 'llama', false],
    ['*', '', true],
    ['a*b*c', 'axxbyyc', true],
    ['a*b*c', 'acb', false],
    ['a*a', 'a', false],
    ['gpt-4', 'gpt-4o', false],
    ['*.gguf', 'x.gguf', true]
  ] as const) {
    t.equal(compileGlob(glob)(text), expected, `${glob} on ${text}`)
  }
  t.equal(joinPaths('', '/v1/chat/completions'), '/v1/chat/completions')
  t.equal(joinPaths('/v1', '/v1/chat/completions'), '/v1/chat/completions')
  t.equal(joinPaths('/api/v1', '/v1/models'), '/api/v1/models')
  t.equal(joinPaths('/api', '/v1/models'), '/api/v1/models')
  t.equal(joinPaths('/v1', '/v10/models'), '/v1/v10/models')
})

t.test('no log line holds text, keys or credentials', async (t) => {
  const upstream = await fakeUpstream(t, sse(sseText(chunks('canary-answer'))))
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  for (const text of ['canary-text', 'canary-text forbidme', 'canary-text crashme', 'canary-text divertme']) {
    await (await gateway.post(chat(text), { 'x-safety-context': '{"topic":"canary-context"}' })).text()
  }
  upstream.answer = (res) => res.socket!.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\ncanary-garbage')
  await (await gateway.post(chat('canary-text'))).text()
  t.ok(gateway.logLines.length > 0)
  t.notMatch(gateway.logLines.join(''), /canary|client-key|upstream-credential/)
})
