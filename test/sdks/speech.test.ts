/** Speech through OpenAI's SDK: what is to be said is judged, and its sound comes as the backend made it, named as unread. */
import OpenAI, { APIError } from 'openai'
import t from 'tap'
import { build } from '../support/gateway.js'
import { prompts } from '../support/outcomes.js'
import { fakeUpstream, json } from '../support/upstream.js'

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

  for (const input of ['as JSON', 'as text', 'as a page', 'with the key']) {
    t.same(await refused(input), { status: 502, code: 'upstream_error' }, input)
  }
})
