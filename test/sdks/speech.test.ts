/** Speech through OpenAI's SDK: what is to be said is judged, and its sound comes as the backend made it, named as unread. */
import { setTimeout } from 'node:timers/promises'
import OpenAI, { APIError } from 'openai'
import t, { type Test } from 'tap'
import { build } from '../support/gateway.js'
import { prompts } from '../support/outcomes.js'
import { type Answer, fakeUpstream, json } from '../support/upstream.js'

const upstreamKey = 'upstream-secret-of-good-length'
const sound = Buffer.from(Array.from({ length: 40_000 }, (_, i) => (i * 67 + 190) % 256))

t.test('speech', async (t) => {
  const upstream = await fakeUpstream(t, (res, request) => {
    const { input } = JSON.parse(request.body.toString()) as { input: string }
    if (input === 'as JSON') return json({ text: 'no sound' })(res, request)
    const bodies: Record<string, Buffer> = {
      'as text': Buffer.from('This is a text that only claims to be a sound. '.repeat(20)),
      'with the key': Buffer.concat([sound, Buffer.from(upstreamKey)])
    }
    const type = input === 'as a page' ? 'text/html' : 'audio/mpeg; note=x'
    res.writeHead(200, { 'content-type': type }).end(bodies[input] ?? sound)
  })
  const yaml = [
    `upstreams: { default: { url: "${upstream.url}", key: ${upstreamKey} } }`,
    'routes: [{ path: /v1/audio/speech, dialect: openai-speech }]'
  ].join('\n')
  const { url, key } = await build(t, { yaml })
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })
  const speak = (input: string, instructions?: string) =>
    client.audio.speech.create({
      model: 'tts',
      voice: 'alloy',
      input,
      ...(instructions !== undefined && { instructions })
    })
  const refused = (input: string, instructions?: string) =>
    speak(input, instructions).then(
      () => undefined,
      (error: unknown) => (error instanceof APIError ? { status: error.status, code: error.code } : error)
    )

  const response = await speak('Good morning.', 'Cheerfully.')
  t.same(Buffer.from(await response.arrayBuffer()), sound)
  t.equal(response.headers.get('content-type'), 'audio/mpeg', 'the type and nothing beside it')
  t.equal(response.headers.get('x-safety-not-evaluated'), 'audio')
  t.equal(response.headers.get('x-safety-decision'), 'permit')
  t.match(upstream.requests.at(-1)!.headers, { accept: 'audio/*, application/json' })

  const before = upstream.requests.length
  t.same(await refused(prompts.forbid), { status: 400, code: 'content_filter' })
  t.same(await refused('Hello.', prompts.forbid), { status: 400, code: 'content_filter' })
  t.same(await refused(prompts.divert), { status: 403, code: 'review_required' })
  t.same(await refused(prompts.depends), { status: 422, code: 'context_required' })
  t.equal(upstream.requests.length, before)

  await t.rejects(speak('with the key').then((answer) => answer.arrayBuffer()))
  for (const input of ['as JSON', 'as text', 'as a page']) {
    t.same(await refused(input), { status: 502, code: 'upstream_error' }, input)
  }
})

/** A gateway whose backend answers so, and OpenAI's client of it. */
async function house(t: Test, answer: Answer) {
  const upstream = await fakeUpstream(t, answer)
  const yaml = [
    `upstreams: { default: { url: "${upstream.url}", key: ${upstreamKey} } }`,
    'routes: [{ path: /v1/audio/speech, dialect: openai-speech }]'
  ].join('\n')
  const { url, key } = await build(t, { yaml })
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })
  const speak = (more: object = {}) =>
    client.audio.speech.create({ model: 'tts', voice: 'alloy', input: 'Good morning.', ...more })
  return { upstream, speak }
}

t.test('sound leaves as it is made, and a cut one does not look whole', async (t) => {
  let go = () => {}
  const { speak } = await house(t, async (res) => {
    res.writeHead(200, { 'content-type': 'audio/mpeg' }).write(sound.subarray(0, 4_000))
    await new Promise<void>((resolve) => {
      go = resolve
    })
    res.end(sound.subarray(4_000))
  })
  const response = await speak()
  const pieces: Buffer[] = []
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    pieces.push(Buffer.from(piece))
    go()
  }
  t.ok(pieces[0]!.length <= 4_000, 'the first piece came before the rest was made')
  t.ok(Buffer.concat(pieces).equals(sound))

  const end =
    (write: (res: Parameters<Answer>[0]) => unknown): Answer =>
    async (res) => {
      res.writeHead(200, { 'content-type': 'audio/mpeg' }).write(sound.subarray(0, 20_000))
      await setTimeout(30)
      write(res)
    }
  const cut = await house(
    t,
    end((res) => res.socket?.destroy())
  )
  const begun = await cut.speak()
  await t.rejects(begun.arrayBuffer(), 'the connection breaks with it')
  const [secret, more] = [upstreamKey.slice(0, 10), upstreamKey.slice(10)]
  const leak = await house(t, (res) => {
    res.writeHead(200, { 'content-type': 'audio/mpeg' }).write(sound)
    res.write(secret)
    void setTimeout(20).then(() => res.end(more))
  })
  await t.rejects((await leak.speak()).arrayBuffer(), 'a credential over two pieces does too')
  const small = await house(t, (res) => res.writeHead(200, { 'content-type': 'audio/mpeg' }).end('a few words'))
  await t.rejects(small.speak(), { status: 502, code: 'upstream_error' })
  const words = Buffer.from('These are words and no sound. '.repeat(200))
  const slow = await house(t, async (res) => {
    res.writeHead(200, { 'content-type': 'audio/mpeg' })
    for (let at = 0; at < words.length; at += 500) {
      res.write(words.subarray(at, at + 500))
      await setTimeout(1)
    }
    res.end()
  })
  await t.rejects(slow.speak(), { status: 502, code: 'upstream_error' }, 'words do not leave piece by piece')
})

t.test('speech as events', async (t) => {
  const pieces = Array.from({ length: 8 }, (_, i) => sound.subarray(i * 5_000, (i + 1) * 5_000).toString('base64'))
  const events = (list: object[]) => list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  const done = { type: 'speech.audio.done', usage: { input_tokens: 3, output_tokens: 9, total_tokens: 12 } }
  const deltas = pieces.map((audio) => ({ type: 'speech.audio.delta', audio }))
  const answering =
    (...list: object[]): Answer =>
    (res) =>
      res.writeHead(200, { 'content-type': 'text/event-stream' }).end(events(list))
  const { upstream, speak } = await house(t, answering(...deltas, done))
  const response = await speak({ stream_format: 'sse' })
  t.equal(response.headers.get('x-safety-not-evaluated'), 'audio')
  t.match(response.headers.get('content-type'), /^text\/event-stream/)
  const text = await response.text()
  t.equal(text, events([...deltas, done]))
  t.equal(upstream.requests.at(-1)!.headers.accept, 'text/event-stream')
  await t.rejects(speak({ stream_format: 'sse', input: prompts.forbid }), { status: 400, code: 'content_filter' })
  for (const [what, bad] of [
    ['words in the place of sound', { type: 'speech.audio.delta', audio: prompts.forbid }],
    ['words in base64', { type: 'speech.audio.delta', audio: Buffer.from(prompts.forbid).toString('base64') }],
    ['words beside the sound', { type: 'speech.audio.delta', audio: pieces[0], text: prompts.forbid }]
  ] as const) {
    upstream.answer = answering(deltas[0]!, bad, done)
    const answer = await (await speak({ stream_format: 'sse' })).text()
    t.match(answer, /"code":"content_filter"/, what)
    t.notMatch(answer, /speech\.audio\.done|pipe bomb/, what)
  }
  let go = () => {}
  upstream.answer = async (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write(events(deltas.slice(0, 1)))
    await new Promise<void>((resolve) => {
      go = resolve
    })
    res.end(events([done]))
  }
  const live = await speak({ stream_format: 'sse' })
  let came = ''
  for await (const piece of live.body as unknown as AsyncIterable<Uint8Array>) {
    came += Buffer.from(piece)
    go()
  }
  t.equal(came, events([deltas[0]!, done]), 'an event leaves before the next has come')
  upstream.answer = answering(deltas[0]!, { type: 'speech.more', text: 'x' }, done)
  const broken = await speak({ stream_format: 'sse' }).then(
    (response) => response.text(),
    (error: unknown) => String(error)
  )
  t.match(broken, /upstream|terminated|usable/)
})
