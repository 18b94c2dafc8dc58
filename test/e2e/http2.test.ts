/** The plugin in a host application that speaks HTTP/2, asked by node:http2. */
import { once } from 'node:events'
import http2, { type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2'
import t, { type Test } from 'tap'
import { build } from '../support/gateway.js'
import { openaiAnswers } from '../support/openai-upstream.js'
import { answers, prompts } from '../support/outcomes.js'
import { chunks, type FakeUpstream, fakeUpstream, sseText } from '../support/upstream.js'

interface Answered {
  headers: Record<string, unknown>
  text: string
  /** How the stream was ended; 0: as it should. */
  code: number
}

async function ask(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string): Promise<Answered> {
  const stream = session.request(headers, { endStream: body === undefined })
  const answered: Answered = { headers: {}, text: '', code: 0 }
  stream.on('response', (headers) => Object.assign(answered.headers, headers))
  stream.on('error', () => {})
  stream.setEncoding('utf8').on('data', (text: string) => {
    answered.text += text
  })
  if (body !== undefined) stream.end(body)
  await new Promise((resolve) => stream.once('close', resolve))
  return { ...answered, code: stream.rstCode ?? 0 }
}

async function host(t: Test, upstream: FakeUpstream) {
  const { url, key } = await build(t, {
    prefix: '/guard',
    http2: true,
    yaml: `upstreams: { default: { url: "${upstream.url}" } }`
  })
  const session = http2.connect(url)
  t.teardown(() => session.close())
  const post = (path: string): OutgoingHttpHeaders => ({
    ':method': 'POST',
    ':path': `/guard${path}`,
    authorization: `Bearer ${key}`,
    'content-type': 'application/json'
  })
  const chat = (content: string, stream: boolean) =>
    ask(
      session,
      post('/v1/chat/completions'),
      JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], stream })
    )
  return { url, session, post, chat }
}

t.test('chats over HTTP/2 are judged as over HTTP/1.1, whole and streamed', async (t) => {
  const upstream = await fakeUpstream(t, openaiAnswers(answers))
  const { chat } = await host(t, upstream)
  const said = ({ text }: Answered) =>
    [...text.matchAll(/"content":"((?:[^"\\]|\\.)*)"/g)].map(([, piece]) => JSON.parse(`"${piece}"`)).join('')
  for (const stream of [false, true]) {
    const row = stream ? 'streamed' : 'whole'
    const permitted = await chat(prompts.permit, stream)
    t.match(permitted, { headers: { ':status': 200, 'x-safety-decision': 'permit' }, code: 0 }, row)
    t.equal(said(permitted), answers.permit, row)
    t.equal(permitted.text.endsWith('data: [DONE]\n\n'), stream)
    const sent = upstream.requests.length
    const refused = await chat(prompts.forbid, stream)
    t.match(refused, { headers: { ':status': 400, 'x-safety-decision': 'forbid' }, text: /"content_filter"/ }, row)
    t.equal(upstream.requests.length, sent, 'and nothing of it reached the upstream')
    const withheld = await chat(prompts.answerForbid, stream)
    t.match(withheld, { headers: { ':status': 200 }, text: /"finish_reason":"content_filter"/, code: 0 }, row)
    t.notMatch(withheld.text, /black powder/, row)
  }
  t.equal(upstream.requests.length, 4, 'what was permitted reached the upstream')
})

t.test('an event stream that breaks is cut off, and one whose client leaves is given up', async (t) => {
  const pieces = sseText(chunks('Use pkill with the name of the process. ', 'It ends it. ', 'Then look again.'), false)
  const upstream = await fakeUpstream(t, (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(pieces, () => setTimeout(() => res.destroy(), 50))
  })
  const { session, post, chat } = await host(t, upstream)
  const broken = await chat(prompts.permit, true)
  t.match(broken, { headers: { ':status': 200 }, text: /upstream_error/ }, 'the client is told')
  t.equal(broken.code, http2.constants.NGHTTP2_INTERNAL_ERROR, 'and cannot take it for complete')

  upstream.answer = (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(pieces)
  }
  const stream = session.request(post('/v1/chat/completions'))
  stream.end(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: prompts.permit }], stream: true }))
  await once(stream, 'data')
  stream.close(http2.constants.NGHTTP2_CANCEL)
  await upstream.requests.at(-1)!.aborted
  t.pass('the upstream is let go of')

  upstream.answer = () => {}
  const sent = upstream.requests.length
  const waiting = session.request(post('/v1/chat/completions'))
  waiting.end(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: prompts.permit }] }))
  while (upstream.requests.length === sent) await new Promise((resolve) => setTimeout(resolve, 5))
  waiting.close(http2.constants.NGHTTP2_CANCEL)
  await upstream.requests.at(-1)!.aborted
  t.pass('before its first byte too')
})

t.test('bodies and hosts of HTTP/2 are read by its own framing', async (t) => {
  const upstream = await fakeUpstream(t, openaiAnswers(answers))
  const { url, session, post } = await host(t, upstream)
  const evaluate = post('/api/v1/safety/evaluate')
  const text = JSON.stringify({ input_text: prompts.permit })
  const { 'content-type': type, ...untyped } = evaluate
  const signIn = { ...post('/api/v1/auth/sign-in'), 'sec-fetch-site': 'same-origin', 'x-sluicegate-csrf': '1' }
  const who = JSON.stringify({ login: 'root', password: 'not the right one' })
  const table: [name: string, headers: OutgoingHttpHeaders, body: string | undefined, status: number, says: RegExp][] =
    [
      ['a body without a length', evaluate, text, 200, /"permit"/],
      ['with one', { ...evaluate, 'content-length': text.length }, text, 200, /"permit"/],
      ['of no type', untyped, text, 415, /unsupported_media_type/],
      ['of another', { ...evaluate, 'content-type': 'text/plain' }, text, 415, /unsupported_media_type/],
      ['too large', evaluate, `{"input_text":"${'a'.repeat(5_000_000)}"}`, 413, /payload_too_large/],
      ['none', evaluate, undefined, 400, /A JSON body is required/],
      ['none, of a form', { ...evaluate, 'content-type': `${type}-x` }, undefined, 400, /A JSON body is required/],
      ['a GET', { ...post('/v1/models'), ':method': 'GET' }, undefined, 200, /"data"/],
      ['a GET with a body', { ...post('/v1/models'), ':method': 'GET' }, text, 400, /GET takes no body/],
      [
        'two hosts',
        { ...evaluate, ':authority': 'here.example', host: 'elsewhere.example' },
        text,
        400,
        /Host header must equal :authority/
      ],
      ['a person of this site', { ...signIn, origin: new URL(url).origin }, who, 401, /sign_in/],
      ['and of another', { ...signIn, origin: 'https://evil.example' }, who, 403, /Origin is another/],
      ['an odd spelling', { ...evaluate, ':path': '/guard//api/v1/safety/evaluate' }, text, 404, /not_found/]
    ]
  upstream.answer = (res, request) => {
    if (request.method === 'POST') return openaiAnswers(answers)(res, request)
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"list","data":[]}')
  }
  for (const [name, headers, body, status, says] of table) {
    const answered = await ask(session, headers, body)
    t.match(answered, { headers: { ':status': status }, text: says }, name)
  }
})
