/** Errors of upstreams: with the upstream's status, in its own judged words where they can be read, and never anything that nobody judged. */
import t from 'tap'
import type { DialectId } from '../../src/base/settings.js'
import { type Answer, chunks, fakeUpstream, json, sse, sseText, stall } from '../support/upstream.js'
import { chat, eventsOf, harness, route, shown, upstreamSettings } from './harness.js'

const plain =
  (status: number, type: string, text: string, headers: Record<string, string> = {}): Answer =>
  (res) =>
    res.writeHead(status, { ...(type !== '' && { 'content-type': type }), ...headers }).end(text)

t.test('an error that is no JSON keeps its status and the time to wait, in words of the gateway', async (t) => {
  const upstream = await fakeUpstream(t, stall)
  const off = '/off/v1/chat/completions'
  const gateway = await harness(t, [route(), route({ path: off, output: 'off' })], {
    default: upstreamSettings(upstream.url)
  })
  const errors: [status: number, type: string, text: string, wait?: string][] = [
    [413, 'text/html', '<h1>zanzibar</h1>'],
    [400, 'text/plain', 'zanzibar'],
    [429, 'text/plain; charset=utf-8', 'zanzibar', '7'],
    [503, 'text/html', '<p>zanzibar', '30'],
    [500, '', ''],
    [404, 'text/event-stream', 'data: zanzibar\n\n'],
    [400, 'application/json', 'zanzibar'],
    [429, 'application/json', '', '7'],
    [400, 'application/json', '"zanzibar"'],
    [529, 'application/json', '[]', '3'],
    [502, 'application/json', '["zanzibar"]']
  ]
  for (const path of ['/v1/chat/completions', off]) {
    for (const stream of [false, true]) {
      for (const [status, type, text, wait] of errors) {
        const label = `${status} ${type} ${text}, ${path}, ${stream}`
        upstream.requests.length = 0
        upstream.answer = plain(status, type, text, wait === undefined ? {} : { 'retry-after': wait })
        const response = await gateway.post(chat('hi', { stream }), {}, path)
        const got = await response.text()
        t.match([response.status, response.headers.get('retry-after')], [status, wait ?? null], label)
        t.match(JSON.parse(got), { error: { code: 'upstream_error', message: `status ${status}` } }, label)
        t.notMatch(got, /zanzibar/, label)
        t.equal(response.headers.get('x-safety-not-evaluated'), null, 'nothing of it was passed on')
        t.equal(upstream.requests.length, 1, label)
      }
      upstream.answer = plain(429, 'text/plain', 'x', { 'retry-after': 'ask zanzibar' })
      const told = await gateway.post(chat('hi', { stream }), {}, path)
      t.same([told.status, told.headers.get('retry-after')], [429, null], 'only in its documented form')
      upstream.answer = plain(200, 'text/html', 'zanzibar')
      t.equal((await gateway.post(chat('hi', { stream }), {}, path)).status, 502, 'a success is none')
      upstream.answer = plain(401, 'text/html', 'zanzibar')
      t.equal((await gateway.post(chat('hi', { stream }), {}, path)).status, 502, 'the key of the client is in order')
    }
  }
})

t.test('an error that is an array is judged, and passes as it is', async (t) => {
  const upstream = await fakeUpstream(t, stall)
  const gateway = await harness(t, [route({ redact: ['personal_data'] })], { default: upstreamSettings(upstream.url) })
  const error = (message: string) => [{ error: { code: 429, message, status: 'RESOURCE_EXHAUSTED' } }]
  for (const stream of [false, true]) {
    const ask = async (message: string) => {
      upstream.answer = json(error(message), 429, { 'retry-after': '9' })
      const response = await gateway.post(chat('hi', { stream }))
      return { status: response.status, wait: response.headers.get('retry-after'), body: await response.json() }
    }
    t.same(await ask('slow down'), { status: 429, wait: '9', body: error('slow down') })
    t.same((await ask('tell me@example.com')).body, error('tell <PERSONAL_DATA>'))
    t.match(await ask('you said forbidme'), { status: 502, body: { error: { code: 'upstream_error' } } })
    t.equal((await ask('wrong key upstream-credential')).status, 502)
  }
})

interface Told {
  dialect: DialectId
  path: string
  request: Record<string, unknown>
  type?: string
  /** The beginning of an answer. */
  begun: string
  /** Its error, as it comes and as a client gets it. */
  failed(message: string): string
  status: number
  /** As the whole answer. */
  body(message: string): unknown
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { type: string; [field: string]: unknown }) => `event: ${value.type}\n${data(value)}`
const messages = [{ role: 'user', content: 'hi' }]
const overloaded = (message: string) => ({ type: 'error', error: { type: 'overloaded_error', message } })
const unavailable = (message: string) => ({ error: { code: 503, message, status: 'UNAVAILABLE' } })
const said = ['Zanzibar is an island.', ' It is large and warm.']
const candidate = (text: string) => ({ candidates: [{ index: 0, content: { parts: [{ text }] } }] })
const limited = (message: string) => ({ error: { message, type: 'rate_limit_error', param: null, code: null } })
const events: Record<string, Told> = {
  anthropic: {
    dialect: 'anthropic',
    path: '/v1/messages',
    request: { model: 'm', max_tokens: 9, stream: true, messages },
    begun: [
      { type: 'message_start', message: { id: 'msg_1', content: [] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...said.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }))
    ]
      .map(named)
      .join(''),
    failed: (message) => named(overloaded(message)),
    status: 529,
    body: overloaded
  },
  gemini: {
    dialect: 'gemini',
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    request: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    begun: said.map((text) => data(candidate(text))).join(''),
    failed: (message) => data(unavailable(message)).replace('\n\n', '\r\n\r\n'),
    status: 503,
    body: unavailable
  },
  'gemini, array': {
    dialect: 'gemini',
    path: '/v1beta/models/m:streamGenerateContent',
    request: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    type: 'application/json',
    begun: `[${said.map((text) => `${JSON.stringify(candidate(text))},\r\n`).join('')}`,
    failed: (message) => `${JSON.stringify(unavailable(message))}]`,
    status: 503,
    body: unavailable
  },
  ollama: {
    dialect: 'ollama',
    path: '/api/chat',
    request: { model: 'm', messages },
    type: 'application/x-ndjson',
    begun: said
      .map((content) => `${JSON.stringify({ message: { role: 'assistant', content }, done: false })}\n`)
      .join(''),
    failed: (message) => `${JSON.stringify({ error: message })}\n`,
    status: 502,
    body: (message) => ({ error: message })
  },
  responses: {
    dialect: 'openai-responses',
    path: '/v1/responses',
    request: { model: 'm', input: 'hi', stream: true },
    begun: [
      { type: 'response.created', response: { id: 'r', output: [] } },
      ...said.map((delta) => ({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta }))
    ]
      .map(named)
      .join(''),
    failed: (message) =>
      named({ type: 'error', code: 'rate_limit_exceeded', message, param: null, sequence_number: 2 }),
    status: 429,
    body: (message) => ({
      error: { message, type: 'rate_limit_exceeded', param: null, code: 'rate_limit_exceeded' }
    })
  },
  chat: {
    dialect: 'openai-chat',
    path: '/v1/chat/completions',
    request: chat('hi', { stream: true }),
    begun: chunks(...said)
      .slice(1, -1)
      .map(data)
      .join(''),
    failed: (message) => data(limited(message)),
    status: 429,
    body: limited
  }
}

t.test('an error in mid-stream keeps its type, and its words are judged', async (t) => {
  for (const [
    name,
    { dialect, path, request, type = 'text/event-stream', begun, failed, status, body }
  ] of Object.entries(events)) {
    t.test(name, async (t) => {
      const upstream = await fakeUpstream(t, stall)
      const routePath = dialect === 'gemini' ? '/v1beta/models/{model}:streamGenerateContent' : path
      const routes = (['window', 'full', 'off', 'observe'] as const).map((output) =>
        route({
          path: `/${output}${routePath}`,
          upstreamPath: routePath,
          dialect,
          redact: ['personal_data'],
          ...(output === 'observe' ? { mode: output } : { output })
        })
      )
      const gateway = await harness(t, routes, { default: upstreamSettings(upstream.url) })
      const ask = async (output: string, first: string, message: string, gapMs = 0) => {
        const array = type === 'application/json' && first === '' ? '[' : ''
        upstream.answer = async (res) => {
          res.writeHead(200, { 'content-type': type })
          if (first !== '') res.write(first)
          await new Promise((resolve) => setTimeout(resolve, gapMs))
          res.end(array + failed(message))
        }
        const response = await gateway.post(request, {}, `/${output}${path}`)
        let text = ''
        let isCut = false
        try {
          for await (const piece of response.body!) text += Buffer.from(piece).toString()
        } catch {
          isCut = true
        }
        return { status: response.status, text, isCut }
      }
      const frame = failed('try later').replace(/\]$/, '')
      for (const output of ['window', 'full', 'off', 'observe']) {
        const alone = await ask(output, '', 'try later')
        t.match(alone, { status, isCut: false }, `${output}, nothing before`)
        t.same(JSON.parse(alone.text), body('try later'), `${output}, nothing before`)
        if (output === 'full') {
          const held = await ask(output, begun, 'try later')
          t.match([held.status, JSON.parse(held.text)], [status, body('try later')], 'what was held is dropped')
          continue
        }
        const late = await ask(output, begun, 'try later', 100)
        t.match(late, { status: 200, isCut: true }, output)
        for (const text of said) t.match(late.text, text, `${output}: what came before it has left`)
        t.ok(late.text.endsWith(frame), `${output}: ${late.text}`)
      }
      for (const first of ['', begun]) {
        const stopped = await ask('window', first, 'you said forbidme', 100)
        t.ok(stopped.status === 502 || stopped.isCut, 'still an error')
        t.match(stopped.text, 'upstream_error', 'withheld: the gateway says it')
        t.notMatch(stopped.text, 'forbidme')
        const redacted = await ask('window', first, 'ask me@example.com', 100)
        t.match(redacted.text, 'ask <PERSONAL_DATA>')
        t.notMatch(redacted.text, 'me@example.com')
        for (const output of ['window', 'off']) {
          const leak = await ask(output, first, 'wrong key upstream-credential', 100)
          t.notMatch(leak.text, 'upstream-credential', 'the credential never reaches a client')
          t.match(leak.text, 'upstream_error')
        }
      }
    })
  }
})

t.test(
  'of an upstream that refuses the credential in mid-stream, and of one that spells it, nothing is told',
  async (t) => {
    const upstream = await fakeUpstream(t, stall)
    const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
    const refused = data({ error: { message: 'wrong key', type: 'authentication_error', code: null } })
    const [, half] = chunks('It is upstream-cred')
    for (const text of [refused, data(half) + data({ error: { message: 'ential' } })]) {
      upstream.answer = sse(text)
      const response = await gateway.post(chat('hi', { stream: true }))
      t.equal(response.status, 502)
      t.notMatch(await response.text(), /wrong key|"ential/)
    }
  }
)

t.test('a chat is complete without its end marker, once every choice was given its reason to end', async (t) => {
  const upstream = await fakeUpstream(t, stall)
  const outputs = ['window', 'full', 'off'] as const
  const routes = outputs.map((output) =>
    route({ path: `/${output}/v1/chat/completions`, upstreamPath: '/v1/chat/completions', output })
  )
  const gateway = await harness(t, routes, { default: upstreamSettings(upstream.url) })
  const whole = chunks('hel', 'lo')
  const second = (finish_reason: string | null) => ({ ...whole[0], choices: [{ index: 1, delta: {}, finish_reason }] })
  for (const output of outputs) {
    const ask = async (events: readonly unknown[]) => {
      upstream.answer = sse(sseText(events, false))
      return gateway.post(chat('hi', { stream: true }), {}, `/${output}/v1/chat/completions`)
    }
    for (const more of [[], [{ ...whole[0], choices: [], usage: { total_tokens: 5 } }]]) {
      const text = await (await ask([...whole, ...more])).text()
      t.equal(shown(text), 'hello', output)
      t.equal(eventsOf(text).at(-1), '[DONE]', output)
    }
    for (const cut of [whole.slice(0, -1), [second(null), ...whole], []]) {
      const response = await ask(cut)
      if (response.status === 200) await t.rejects(response.text(), output)
      else t.equal(response.status, 502, output)
    }
    t.equal((await ask([second(null), ...whole, second('stop')])).status, 200, output)
  }
})

t.test('events that Anthropic may add are judged like the others', async (t) => {
  const upstream = await fakeUpstream(t, stall)
  const gateway = await harness(t, [route({ path: '/v1/messages', dialect: 'anthropic', redact: ['personal_data'] })], {
    default: upstreamSettings(upstream.url)
  })
  const { begun, request } = events.anthropic!
  const ended =
    named({ type: 'content_block_stop', index: 0 }) +
    named({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }) +
    named({ type: 'message_stop' })
  const ask = async (...added: Parameters<typeof named>[0][]) => {
    upstream.answer = sse(begun + added.map(named).join('') + ended)
    return (await gateway.post(request, {}, '/v1/messages')).text()
  }
  const note = { type: 'note_of_tomorrow', note: { about: ['fine', 5] } }
  t.equal(await ask(note), begun + named(note) + ended, 'it passes as it came')
  t.match(await ask({ ...note, note: 'me@example.com' }), '"note":"<PERSONAL_DATA>"')
  const more = (text: string, index?: number) => ({ type: 'text_of_tomorrow_delta', index, delta: { text } })
  const noted = (text: string) => ({ type: 'note_of_tomorrow', note: text })
  for (const bad of [
    [noted('forbidme')],
    [{ type: 'note_of_tomorrow', forbidme: 1 }],
    [{ type: 'note_of_forbidme' }],
    [more('forbid', 0), more('me', 0)],
    [more('forbid'), more('me')],
    [noted('for'), noted('bid'), noted('me')]
  ]) {
    const text = await ask(...bad)
    t.match(text, '"stop_reason":"refusal"', JSON.stringify(bad))
    t.notMatch(text, /forbidme|"me"/, JSON.stringify(bad))
  }
  upstream.answer = sse(`${begun}${data({ type: 'x\ndata: y' })}${ended}`)
  t.match(await (await gateway.post(request, {}, '/v1/messages')).text().catch(() => ''), /^(?!.*message_stop)/s)
})
