import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import {
  type Answer,
  chunks,
  completion,
  type FakeUpstream,
  fakeUpstream,
  json,
  raw,
  reset,
  sse,
  sseText,
  stall
} from '../support/upstream.js'
import { chat, eventsOf, gatewayKey, harness, route, shown, upstreamSettings } from './harness.js'

const streamed = chat('hi', { stream: true })

t.test('a forbidden text anywhere in an answer is withheld, whole or streamed', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('')))
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  const bad = 'well forbidme then'
  const call = (args: string, name = 'f') => ({
    tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name, arguments: args } }]
  })
  const messages: Record<string, unknown>[] = [
    { content: bad },
    { content: [{ type: 'text', text: bad }] },
    { content: null, refusal: bad },
    { content: 'fine', reasoning_content: bad },
    { content: 'fine', reasoning: bad },
    { content: null, ...call(JSON.stringify({ a: bad })) },
    { content: null, ...call('{"a":"\\u0066orbidme"}') },
    { content: null, ...call('{}', 'forbidme') },
    { content: null, function_call: { name: 'f', arguments: bad } },
    {
      content: 'fine',
      annotations: [{ type: 'url_citation', url_citation: { title: bad, url: 'https://example.com' } }]
    },
    { content: 'fine', something_new: { [bad]: 1 } }
  ]
  for (const message of messages) {
    const choices = [
      { index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' },
      {
        index: 1,
        message: { role: 'assistant', ...message },
        logprobs: { content: [{ token: bad }] },
        finish_reason: 'stop'
      }
    ]
    upstream.answer = json(completion('', { choices }))
    const whole = await gateway.post(chat('hi'))
    t.equal(whole.status, 200)
    const text = await whole.text()
    t.notMatch(text, /orbidme|well/, Object.keys(message).join())
    const answer = JSON.parse(text)
    t.equal(answer.choices.length, 2)
    for (const choice of answer.choices) {
      t.match(choice, { finish_reason: 'content_filter', logprobs: null, message: { content: null, refusal: String } })
      t.notOk('tool_calls' in choice.message)
    }
    t.same(answer.usage, { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 })
    t.match(Object.fromEntries(whole.headers), { 'x-safety-decision': 'forbid', 'x-safety-code': 'content_filter' })

    const events = choices.map(({ index, message: delta }) => ({ id: 'x', choices: [{ index, delta }] }))
    upstream.answer = sse(sseText(events))
    const stream = await gateway.post(streamed)
    t.equal(stream.status, 200)
    t.equal(stream.headers.get('x-safety-decision'), 'permit', 'the request’s verdict')
    const frames = await stream.text()
    t.notMatch(frames, /orbidme|well|fine/)
    const data = eventsOf(frames)
    t.equal(data.pop(), '[DONE]')
    const finishes = data
      .flatMap((each) => JSON.parse(each).choices)
      .filter(({ finish_reason: reason }) => reason !== null)
    t.match(finishes, [
      { index: 0, finish_reason: 'content_filter' },
      { index: 1, finish_reason: 'content_filter' }
    ])
  }
})

t.test('an answer that a person must see is stored, and the client is told', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('divertme')))
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  for (const word of ['divertme', 'askme']) {
    for (const stream of [false, true]) {
      upstream.answer = stream
        ? sse(sseText(chunks(`so ${word.slice(0, 3)}`, word.slice(3))))
        : json(completion(`so ${word}`))
      const response = await gateway.post(chat('hi', { stream }))
      t.equal(response.status, 200)
      const text = await response.text()
      t.notMatch(text, word)
      t.match(stream ? shown(text) : JSON.parse(text).choices[0].message.content, /reference: rev_\d/)
      if (stream) t.match(text, /data: \[DONE\]\n\n$/)
      else
        t.match(Object.fromEntries(response.headers), {
          'x-safety-code': 'review_required',
          'x-safety-review-id': /^rev_/
        })
      const review = gateway.reviews.opened.at(-1)!
      t.equal(review.surface, 'answer')
      t.match(Buffer.from(review.canonical).toString(), word)
    }
  }
})

t.test('an answer that a person must see, and nobody can, ends as one that is forbidden', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('divertme')))
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  gateway.reviews.full = 'total'
  for (const stream of [false, true]) {
    upstream.answer = stream ? sse(sseText(chunks('so div', 'ertme'))) : json(completion('so divertme'))
    const response = await gateway.post(chat('hi', { stream }))
    t.equal(response.status, 200)
    const text = await response.text()
    t.notMatch(text, /divertme|review rev_/)
    t.match(text, /"finish_reason":"content_filter"/)
    t.equal(response.headers.get('x-safety-review-id'), null)
    if (!stream) t.equal(response.headers.get('x-safety-code'), 'review_queue_full')
  }
  t.same(gateway.reviews.opened, [])
})

t.test('permitted answers arrive as they were', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('')))
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  const logprobs = {
    content: [{ token: 'hello', logprob: -0.25, bytes: [104], top_logprobs: [{ token: 'hi', logprob: -1.5 }] }]
  }
  const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, logprobs, finish_reason: 'stop' }]
  upstream.answer = json(completion('', { choices, extra: { a: [1, null, true] } }))
  t.same(await (await gateway.post(chat('hi'))).json(), completion('', { choices, extra: { a: [1, null, true] } }))

  const events = [...chunks('Grüße, ', '你好 ', '👋🏽'), { id: 'x', choices: [], usage: { total_tokens: 3 } }]
  for (const piece of [1, 2, 3, 7, 10_000]) {
    upstream.answer = sse(`: comment\n\nretry: 5\n\n${sseText(events)}`, { piece })
    const response = await gateway.post(streamed)
    t.match(response.headers.get('content-type'), 'text/event-stream')
    const data = eventsOf(await response.text())
    t.equal(data.pop(), '[DONE]')
    t.same(
      data.map((each) => JSON.parse(each)),
      events,
      `in network pieces of ${piece}`
    )
  }
  for (const newline of ['\r\n', '\r']) {
    upstream.answer = sse(sseText(events).replaceAll('\n', newline))
    t.equal(shown(await (await gateway.post(streamed)).text()), 'Grüße, 你好 👋🏽')
  }
})

t.test('connections are kept, after streams too', async (t) => {
  const upstream = await fakeUpstream(t, sse(sseText(chunks('hel', 'lo'))))
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  for (let i = 0; i < 5; i++) {
    t.equal(shown(await (await gateway.post(streamed)).text()), 'hello')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  t.equal(upstream.connections, 1)
})

t.test('asked for a stream and answered whole, or the reverse: judged as it came', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  t.equal((await (await gateway.post(streamed)).json()).choices[0].message.content, 'hello')
  upstream.answer = sse(sseText(chunks('hel', 'lo')))
  t.equal(shown(await (await gateway.post(chat('hi'))).text()), 'hello')
  upstream.answer = sse(sseText(chunks('forbid', 'me')))
  t.equal(shown(await (await gateway.post(chat('hi'))).text()), '')
})

t.test('upstream errors keep their status if their words pass', async (t) => {
  const upstream = await fakeUpstream(
    t,
    json({ error: { message: 'slow down', type: 'x' } }, 429, { 'retry-after': '9' })
  )
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  for (const stream of [false, true]) {
    upstream.answer = json({ error: { message: 'slow down', type: 'x' } }, 429, { 'retry-after': '9' })
    const response = await gateway.post(chat('hi', { stream }))
    t.equal(response.status, 429)
    t.equal(response.headers.get('retry-after'), '9')
    t.same(await response.json(), { error: { message: 'slow down', type: 'x' } })
    upstream.answer = json({ error: { message: 'you said forbidme' } }, 400)
    t.equal((await gateway.post(chat('hi', { stream }))).status, 502)
    upstream.answer = json({ error: { message: 'wrong key upstream-credential' } }, 401)
    const leak = await gateway.post(chat('hi', { stream }))
    t.equal(leak.status, 502, 'the credential never reaches a client')
    t.notMatch(await leak.text(), 'upstream-credential')
    upstream.answer = json({ error: { message: 'Incorrect API key', code: 'invalid_api_key' } }, 401)
    const refused = await gateway.post(chat('hi', { stream }))
    t.match([refused.status, refused.headers.get('x-should-retry')], [502, 'false'])
    t.match(await refused.json(), { error: { code: 'upstream_error', message: /gateway's own credentials/ } })
    t.match(gateway.logLines.join(), /status 401: the upstream refuses upstreams\.\*\.key/)
  }
})

const head = (type: string, more = '') => `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${more}`
const body = JSON.stringify(completion('hello'))
const events = sseText(chunks('hel', 'lo'))
/** Neither a reason to end nor the end marker. */
const unended = (...contents: string[]) => sseText(chunks(...contents).slice(0, -1), false)
const faults: Record<string, { whole: Answer; stream: Answer; status: number }> = {
  'connection reset': { whole: reset, stream: reset, status: 502 },
  'closed without an answer': { whole: (res) => res.socket!.end(), stream: (res) => res.socket!.end(), status: 502 },
  'no first byte': { whole: stall, stream: stall, status: 504 },
  'stalled in the body': {
    whole: raw(`${head('application/json', 'content-length: 500\r\n')}\r\n{"id"`, { close: false }),
    stream: raw(`${head('text/event-stream')}\r\n${events.slice(0, 300)}`, { close: false }),
    status: 504
  },
  'cut in the body': {
    whole: raw(`${head('application/json', 'transfer-encoding: chunked\r\n')}\r\n5\r\n{"id"\r\n`),
    stream: raw(`${head('text/event-stream', 'transfer-encoding: chunked\r\n')}\r\n5\r\ndata:\r\n`),
    status: 502
  },
  'shorter than announced': {
    whole: raw(`${head('application/json', `content-length: ${body.length + 10}\r\n`)}\r\n${body}`),
    stream: raw(`${head('text/event-stream', 'content-length: 9999\r\n')}\r\n${events.slice(0, 300)}`),
    status: 502
  },
  'longer than announced': {
    whole: raw(`${head('application/json', `content-length: ${body.length - 10}\r\n`)}\r\n${body}`),
    stream: raw(`${head('text/event-stream', 'content-length: 300\r\n')}\r\n${events}`),
    status: 502
  },
  'garbage for a status line': { whole: raw('SSH-2.0-OpenSSH\r\n'), stream: raw('SSH-2.0-OpenSSH\r\n'), status: 502 },
  'garbage for a body': {
    whole: raw(`${head('application/json')}\r\n<html>oops`),
    stream: raw(`${head('text/event-stream')}\r\n<html>oops\n\n`),
    status: 502
  },
  'another content type': {
    whole: raw(`${head('text/html')}\r\n<html>hello</html>`),
    stream: raw(`${head('text/plain')}\r\n${events}`),
    status: 502
  },
  'a redirect': {
    whole: (res) => res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(body),
    stream: (res) => res.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(events),
    status: 502
  },
  'no answer of this API': {
    whole: json({ hello: 'world' }),
    stream: sse('data: {"choices":"hello"}\n\ndata: [DONE]\n\n'),
    status: 502
  },
  'invalid UTF-8': {
    whole: raw(
      Buffer.concat([
        Buffer.from(`${head('application/json')}\r\n{"choices":["`),
        Buffer.from([0xff]),
        Buffer.from('"]}')
      ])
    ),
    stream: raw(
      Buffer.concat([
        Buffer.from(`${head('text/event-stream')}\r\ndata: {"a":"`),
        Buffer.from([0xc3, 0x28]),
        Buffer.from(`"}\n\n${events}`)
      ])
    ),
    status: 502
  },
  'a coding nobody asked for, wrongly': {
    whole: raw(`${head('application/json', 'content-encoding: gzip\r\n')}\r\n${body}`),
    stream: raw(`${head('text/event-stream', 'content-encoding: br\r\n')}\r\n${events}`),
    status: 502
  },
  'no end': {
    whole: raw(`${head('application/json')}\r\n${body.slice(0, -1)}`),
    stream: sse(unended('hel', 'lo')),
    status: 502
  }
}

t.test('upstream faults: a clean error with its status, and a POST is never sent twice', async (t) => {
  const upstream = await fakeUpstream(t, stall)
  const settings = upstreamSettings(upstream.url, { firstByteTimeoutMs: 300, idleTimeoutMs: 300 })
  const gateway = await harness(t, [route({ output: 'full' })], { default: settings })
  for (const [name, { whole, stream, status }] of Object.entries(faults)) {
    for (const isStream of [false, true]) {
      const label = `${name}, ${isStream ? 'streamed' : 'whole'}`
      upstream.requests.length = 0
      upstream.answer = isStream ? stream : whole
      const response = await gateway.post(chat('hi', { stream: isStream }))
      t.equal(response.status, status, label)
      const text = await response.text()
      const { error } = JSON.parse(text)
      t.match(error, { code: status === 504 ? 'upstream_timeout' : 'upstream_error', type: 'server_error' }, label)
      t.notMatch(text, /hello|\[DONE\]/, label)
      t.equal(upstream.requests.length, 1, `${label}: once`)
    }
  }
  upstream.answer = (res) =>
    res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync(body))
  t.equal(
    (await (await gateway.post(chat('hi'))).json()).choices[0].message.content,
    'hello',
    'a real coding is undone'
  )
  upstream.answer = json(completion('hello'))
  t.equal((await gateway.post(chat('hi'))).status, 200, 'the pool has recovered')
})

t.test('a stream cut at any byte never looks complete', async (t) => {
  const upstream = await fakeUpstream(t, stall)
  const routes = [route({ output: 'full' }), route({ path: '/window', upstreamPath: '/v1/chat/completions' })]
  const gateway = await harness(t, routes, { default: upstreamSettings(upstream.url) })
  const text = sseText(chunks('hel', 'lo'))
  // Then its one choice has been given its reason to end.
  const end = text.lastIndexOf('\n\ndata: [DONE]')
  for (let at = 1; at < end; at += 5) {
    upstream.answer = raw(`${head('text/event-stream')}\r\n${text.slice(0, at)}`)
    const response = await gateway.post(streamed)
    t.equal(response.status, 502, `cut at ${at}`)
    await response.text()
    // What has left already cannot be taken back: an error frame follows, and the connection is cut.
    const early = await gateway.post(streamed, {}, '/window')
    if (early.status === 502) await early.text()
    else await t.rejects(early.text(), { message: 'terminated' }, `window, cut at ${at}`)
  }
})

t.test('the total time-out ends an exchange that only drips', async (t) => {
  const upstream = await fakeUpstream(t, sse(sseText(chunks(...'abcdefghij'.repeat(20))), { piece: 20, gapMs: 50 }))
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url, { totalTimeoutMs: 300 }) })
  const response = await gateway.post(streamed)
  t.equal(response.status, 504)
  t.equal((await response.json()).error.code, 'upstream_timeout')
})

t.test('the hold budget: what is held is judged as it stands', async (t) => {
  const upstream = await fakeUpstream(t, stall)
  const gateway = await harness(t, [route({ hold: { bytes: 600, ms: 2000 } })], {
    default: upstreamSettings(upstream.url)
  })
  // What comes together is judged together.
  const slowly = { piece: 300, gapMs: 1 }
  const words = Array.from({ length: 20 }, (_, i) => `word${i} `)

  upstream.answer = sse(sseText(chunks(...words)), slowly)
  t.equal(shown(await (await gateway.post(streamed)).text()), words.join(''))

  upstream.answer = sse(sseText(chunks(...words, 'now for', 'bidme', ...words)), slowly)
  const blocked = await (await gateway.post(streamed)).text()
  t.match(shown(blocked), /^word0 word1 /, 'earlier text left with its own permit')
  t.notMatch(blocked, /forbidme|bidme/)
  const ending = eventsOf(blocked)
  t.equal(ending.pop(), '[DONE]')
  t.equal(JSON.parse(ending.pop()!).choices[0].finish_reason, 'content_filter')

  // The border of two holds falls into the word: the tail of what was released is judged with what follows.
  const whole = sseText(chunks(...words))
  for (let lead = 0; lead < 6; lead++) {
    upstream.answer = sse(sseText(chunks(...words.slice(0, lead), ...'x forbidme y', ...words)), slowly)
    t.notMatch(shown(await (await gateway.post(streamed)).text()), 'forbidme', `after ${lead} words`)
  }

  upstream.answer = raw(`${head('text/event-stream')}\r\n${whole.slice(0, 1500)}`)
  const cut = await gateway.post(streamed)
  t.equal(cut.status, 200, 'something has left already')
  let text = ''
  await t.rejects(async () => {
    for await (const chunk of cut.body!) text += Buffer.from(chunk).toString()
  }, 'the connection is destroyed')
  t.match(eventsOf(text).at(-1), /"code":"upstream_error"/)
  t.notMatch(text, /\[DONE\]/)
})

t.test('redaction of answers, also across chunks', async (t) => {
  const upstream = await fakeUpstream(t, stall)
  // However long the machine takes: nothing leaves before its time.
  const hold = { bytes: 1024 * 1024, ms: 60_000 }
  const gateway = await harness(t, [route({ redact: ['personal_data'], hold })], {
    default: upstreamSettings(upstream.url)
  })
  const text = 'write to me@example.com, or me@example.com.'
  const want = 'write to <PERSONAL_DATA>, or <PERSONAL_DATA>.'
  const logprobs = { content: [{ token: 'me@example.com' }] }
  const choices = [{ index: 0, message: { role: 'assistant', content: text }, logprobs, finish_reason: 'stop' }]
  upstream.answer = json(completion('', { choices }))
  const whole = await gateway.post(chat('hi'))
  t.ok(Number(whole.headers.get('x-safety-redacted')) >= 2)
  const answer = await whole.json()
  t.equal(answer.choices[0].message.content, want)
  t.equal(answer.choices[0].logprobs, null)

  for (let at = 1; at < text.length; at++) {
    upstream.answer = sse(sseText(chunks(text.slice(0, at), text.slice(at))))
    t.equal(shown(await (await gateway.post(streamed)).text()), want, `split at ${at}`)
  }
  upstream.answer = sse(sseText(chunks(text)))
  const stream = await gateway.post(streamed)
  t.equal(stream.headers.get('x-safety-redacted'), '2')
  t.equal(shown(await stream.text()), want)
  // What may leave can end within what is replaced: no letter of it does.
  for (const piece of [161, 1024, 4096, 65_536]) {
    upstream.answer = sse(sseText(chunks(...text)), { piece, gapMs: 5 })
    t.equal(
      shown(await (await gateway.post(streamed)).text()),
      want,
      `character by character, ${piece} bytes at a time`
    )
  }

  const part = (args: string) => ({
    choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: args } }] } }]
  })
  upstream.answer = sse(sseText([part('{"to":"me@exa'), part('mple.com\\n"}')]))
  const calls = eventsOf(await (await gateway.post(streamed)).text()).slice(0, -1)
  const args = calls.map((each) => JSON.parse(each).choices[0].delta.tool_calls[0].function.arguments).join('')
  t.same(JSON.parse(args), { to: '<PERSONAL_DATA>\n' })
})

t.test('observe and output off let streams through as they come, and still tell a cut', async (t) => {
  const upstream = await fakeUpstream(t, stall)
  const observe = '/observe/v1/chat/completions'
  const off = '/off/v1/chat/completions'
  const gateway = await harness(t, [route({ path: observe, mode: 'observe' }), route({ path: off, output: 'off' })], {
    default: upstreamSettings(upstream.url)
  })
  for (const path of [observe, off]) {
    upstream.answer = (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(`data: ${JSON.stringify(chunks('forbidme')[1])}\n\n`)
    }
    const response = await gateway.post(streamed, {}, path)
    const reader = response.body!.getReader()
    t.match(Buffer.from((await reader.read()).value!).toString(), 'forbidme', 'before the upstream has ended')
    t.equal(response.headers.get('x-safety-not-evaluated'), path === off ? 'output_off' : null)
    await reader.cancel()

    upstream.answer = sse(sseText(chunks('forbid', 'me')))
    t.equal(shown(await (await gateway.post(streamed, {}, path)).text()), 'forbidme')
    upstream.answer = sse(unended('forbid', 'me'))
    await t.rejects((await gateway.post(streamed, {}, path)).text())
  }
  upstream.answer = json(completion('forbidme'))
  const whole = await gateway.post({ ...streamed, stream: false }, {}, off)
  t.equal(whole.headers.get('x-safety-not-evaluated'), 'output_off')
  upstream.answer = (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<p>')
  const none = await gateway.post({ ...streamed, stream: false }, {}, off)
  t.same([none.status, none.headers.get('x-safety-not-evaluated')], [502, null], 'nothing of it was passed on')
  t.same(
    (await gateway.metrics.notEvaluated.get()).values.map(({ labels, value }) => [labels.reason, value]),
    [['output_off', 4]],
    'counted for each answer'
  )
  const judged = gateway.evaluator.inputs.filter(({ direction }) => direction === 'answer')
  t.ok(
    judged.some(({ parts }) => parts.some(({ text }) => text === 'forbidme')),
    'observed answers are judged'
  )
})

/** A client that closes its socket at a moment of its own choosing. */
function leavingClient(url: string, requestBody: string): { leave(): void } {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gatewayKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(requestBody)}\r\n\r\n${requestBody}`
  )
  return { leave: () => socket.destroy() }
}

async function requestOf(upstream: FakeUpstream) {
  while (upstream.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
  return upstream.requests.shift()!
}

t.test('a client that leaves ends the upstream, at any phase', async (t) => {
  const upstream = await fakeUpstream(t, stall)
  const gateway = await harness(t, [route({ hold: { bytes: 100, ms: 2000 } })], {
    default: upstreamSettings(upstream.url)
  })
  const drip = sseText(chunks('hello'), false)
  const phases: Record<string, Answer> = {
    'before the first byte': stall,
    'in the body of a whole answer': raw(`${head('application/json', 'content-length: 500\r\n')}\r\n{"id"`, {
      close: false
    }),
    'while a stream is held': raw(`${head('text/event-stream')}\r\ndata: {"choices":[]}\n\n`, { close: false }),
    'after a part of the stream has left': raw(`${head('text/event-stream')}\r\n${drip}`, { close: false })
  }
  for (const [phase, answer] of Object.entries(phases)) {
    upstream.answer = answer
    const client = leavingClient(gateway.url, JSON.stringify(streamed))
    const request = await requestOf(upstream)
    await new Promise((resolve) => setTimeout(resolve, 30))
    client.leave()
    await request.aborted
    t.pass(phase)
  }
  t.equal((await gateway.metrics.streamHeldBytes.get()).values[0]?.value ?? 0, 0, 'nothing is held any more')
})

t.test('how a stream ended is told apart in the metrics', async (t) => {
  const upstream = await fakeUpstream(t, stall)
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  const whole = sseText(chunks('hello'))
  const ends: [string, Answer][] = [
    ['complete', sse(whole)],
    ['filtered', sse(sseText(chunks('forbidme')))],
    ['upstream', sse(unended('hello'))]
  ]
  for (const [end, answer] of ends) {
    upstream.answer = answer
    await (await gateway.post(streamed)).text().catch(() => 'cut')
    const { values } = await gateway.metrics.streamEnds.get()
    t.equal(values.find(({ labels }) => labels.end === end)?.value, 1, end)
  }
  upstream.answer = raw(`${head('text/event-stream')}\r\n${sseText(chunks('hello'), false)}`, { close: false })
  upstream.requests.length = 0
  const client = leavingClient(gateway.url, JSON.stringify(streamed))
  const request = await requestOf(upstream)
  await new Promise((resolve) => setTimeout(resolve, 50))
  client.leave()
  await request.aborted
  const { values } = await gateway.metrics.streamEnds.get()
  t.equal(values.find(({ labels }) => labels.end === 'client')?.value, 1, 'client')
})

t.test('a slow reader slows the upstream down', async (t) => {
  const upstream = await fakeUpstream(t, stall)
  const gateway = await harness(t, [route({ hold: { bytes: 50_000, ms: 2000 } })], {
    default: upstreamSettings(upstream.url)
  })
  let written = 0
  upstream.answer = async (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    const event = `data: ${JSON.stringify(chunks('x'.repeat(40_000))[1])}\n\n`
    while (!res.destroyed && written < 200_000_000) {
      written += event.length
      if (!res.write(event)) await new Promise((resolve) => res.once('drain', resolve).once('close', resolve))
    }
  }
  const { hostname, port } = new URL(gateway.url)
  const requestBody = JSON.stringify(streamed)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gatewayKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${requestBody.length}\r\n\r\n${requestBody}`
  )
  socket.once('readable', () => {})
  await requestOf(upstream)
  let before = -1
  while (written !== before) {
    before = written
    await new Promise((resolve) => setTimeout(resolve, 150))
  }
  t.ok(written < 50_000_000, `the upstream stands still after ${written} bytes`)
  socket.destroy()
})
