/**
 * Transcriptions and translations through OpenAI's SDK: sound follows the route, the texts of the form are judged as the
 * user's, and what was heard as the answer, in every form in which it comes.
 */
import OpenAI, { APIError, toFile } from 'openai'
import t from 'tap'
import type { JsonObject } from '../../src/base/chat.js'
import { boundaryOf, type FormFile, readForm } from '../../src/dialects/form.js'
import { build } from '../support/gateway.js'
import { answers, prompts } from '../support/outcomes.js'
import { type Answer, fakeUpstream, json, type Recorded, sse } from '../support/upstream.js'

const sound = Buffer.concat([
  Buffer.from('494433040000', 'hex'),
  Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * 67 + 190) % 256))
])
const formOf = ({ headers, body }: Recorded) =>
  readForm(body, boundaryOf(headers['content-type'] ?? '') ?? '', { file: 'audio' })
const mail = 'Write to ada@harbour.example today.'

/** What is heard, by the word that the prompt has. */
function heardIn({ prompt = '' }: JsonObject): string {
  if (String(prompt).includes('«forbidden»')) return answers.forbidden
  if (String(prompt).includes('«secret»')) return answers.secret
  return String(prompt).includes('«mail»') ? mail : answers.permit
}

/** Where a backend cuts what it heard: in two, at a blank. */
function halves(text: string): [string, string] {
  const at = text.indexOf(' ', text.length / 2)
  return [text.slice(0, at), text.slice(at + 1)]
}

const answer: Answer = (res, request) => {
  const form = formOf(request)
  const text = heardIn(form)
  const [a, b] = halves(text)
  const plain = (said: string, type = 'text/plain; charset=utf-8') =>
    res.writeHead(200, { 'content-type': type }).end(said)
  if (form.stream === 'true') {
    const deltas = [`${a} `, b].map((delta) => ({ type: 'transcript.text.delta', delta }))
    const events = [...deltas, { type: 'transcript.text.done', text }]
    return sse(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), { piece: 40 })(res, request)
  }
  switch (form.response_format) {
    case 'text':
      return plain(`${text}\n`)
    case 'srt':
      return plain(`1\n00:00:00,000 --> 00:00:01,000\n${a}\n\n2\n00:00:01,000 --> 00:00:02,000\n${b}\n`)
    case 'vtt':
      return plain(`WEBVTT\n\n00:00.000 --> 00:01.000\n${a}\n\n00:01.000 --> 00:02.000\n${b}\n`, 'text/vtt')
    case 'verbose_json': {
      const segments = [a, b].map((each, id) => ({ id, start: id, end: id + 1, text: each }))
      const words = text.split(' ').map((word) => ({ word, start: 0, end: 1 }))
      return json({ task: 'transcribe', language: 'english', duration: 2, text: '', segments, words })(res, request)
    }
    default:
      return json({ text, usage: { type: 'duration', seconds: 2 } })(res, request)
  }
}

type Asked = { prompt?: string; response_format?: 'json' | 'text' | 'srt' | 'vtt' | 'verbose_json' }

t.test('transcriptions', async (t) => {
  const upstream = await fakeUpstream(t, answer)
  const paths = ['/v1/audio/transcriptions', '/v1/audio/translations']
  const route = (base: string, more: string) =>
    paths.map(
      (path) => `  - { path: "${base}${path}", upstream_path: "${path}", dialect: openai-transcriptions, ${more} }`
    )
  const yaml = [
    `upstreams: { default: { url: "${upstream.url}", key: upstream-secret } }`,
    'routes:',
    ...route('', 'unscannable: { audio: permit }'),
    ...route('/deny', 'body_limit: 1MiB'),
    ...route('/review', 'unscannable: review'),
    ...route('/said', 'unscannable: permit, respond: message'),
    ...route('/redact', 'unscannable: permit, redact: [personal_data]'),
    'limits: { live_per_minute: 100000 }'
  ].join('\n')
  const { url, key } = await build(t, { yaml })
  const at = (base: string) => new OpenAI({ baseURL: `${url}${base}/v1`, apiKey: key, maxRetries: 0 })
  const file = () => toFile(sound, 'meeting.mp3', { type: 'audio/mpeg' })
  const transcribe = async (base: string, asked: Asked = {}) =>
    at(base).audio.transcriptions.create({ model: 'whisper-1', file: await file(), ...asked })
  const stream = async (base: string, prompt: string) => {
    const events = await at(base).audio.transcriptions.create({
      model: 'gpt-4o-transcribe',
      file: await file(),
      prompt,
      stream: true
    })
    let heard = ''
    for await (const event of events) if (event.type === 'transcript.text.delta') heard += event.delta
    return heard
  }
  const refused = (asked: Promise<unknown>) =>
    asked.then(
      (value) => ({ value }),
      (error: unknown) => (error instanceof APIError ? { status: error.status, code: error.code } : error)
    )

  t.test('the form is written anew, with what the client meant, and the receipt names the sound', async (t) => {
    const { data, response } = await at('')
      .audio.transcriptions.create({
        model: 'whisper-1',
        file: await file(),
        prompt: 'A talk about harbours.',
        timestamp_granularities: ['word', 'segment'],
        temperature: 0.2
      })
      .withResponse()
    t.equal(data.text, answers.permit)
    t.equal(response.headers.get('x-safety-not-evaluated'), 'audio')
    t.equal(response.headers.get('x-safety-decision'), 'permit')
    const sent = upstream.requests.at(-1)!
    t.equal(sent.headers.authorization, 'Bearer upstream-secret')
    t.match(sent.headers['content-type'], /^multipart\/form-data; boundary=form-[0-9a-f]{48}$/)
    const { file: forwarded, ...others } = formOf(sent)
    t.same(others, {
      model: 'whisper-1',
      prompt: 'A talk about harbours.',
      'timestamp_granularities[]': ['word', 'segment'],
      temperature: '0.2'
    })
    const { data: bytes, ...head } = forwarded as FormFile
    t.same(head, { filename: 'meeting.mp3', mime_type: 'audio/mpeg' })
    t.ok(Buffer.from(bytes, 'base64').equals(sound))
  })

  t.test('sound follows the route', async (t) => {
    const before = upstream.requests.length
    t.same(await refused(transcribe('/deny')), { status: 422, code: 'unscannable_content' })
    t.same(await refused(transcribe('/review')), { status: 403, code: 'review_required' })
    t.equal(upstream.requests.length, before)
  })

  const formats = ['json', 'text', 'srt', 'vtt', 'verbose_json'] as const
  t.test('what was heard comes as it was asked for, and is judged in every form', async (t) => {
    for (const response_format of formats) {
      const heard = await transcribe('', { response_format })
      t.match(JSON.stringify(heard), /pkill/, response_format)
      for (const base of ['', '/said']) {
        const asked = (prompt: string) => refused(transcribe(base, { response_format, prompt }))
        t.same(await asked(prompts.answerForbid), { status: 400, code: 'content_filter' }, `${response_format} ${base}`)
        t.same(
          await asked(prompts.answerDivert),
          { status: 403, code: 'review_required' },
          `${response_format} ${base}`
        )
      }
      t.match(JSON.stringify(await transcribe('/redact', { response_format, prompt: '«mail»' })), /<PERSONAL_DATA>/)
    }
    const { text } = await at('').audio.translations.create({ model: 'whisper-1', file: await file() })
    t.equal(text, answers.permit)
  })

  t.test('streams', async (t) => {
    t.equal(await stream('', 'Harbours.'), answers.permit)
    t.equal(await stream('/redact', '«mail»'), 'Write to <PERSONAL_DATA> today.')
    for (const base of ['', '/said']) {
      t.match(await refused(stream(base, prompts.answerForbid)), { code: 'content_filter' })
      t.match(await refused(stream(base, prompts.answerDivert)), { code: 'review_required' })
    }
  })

  t.test('the texts of the form are judged as the user’s', async (t) => {
    const before = upstream.requests.length
    for (const base of ['', '/said']) {
      t.same(await refused(transcribe(base, { prompt: prompts.forbid })), { status: 400, code: 'content_filter' })
      t.same(await refused(transcribe(base, { prompt: prompts.divert })), { status: 403, code: 'review_required' })
      t.same(await refused(transcribe(base, { prompt: prompts.depends })), { status: 422, code: 'context_required' })
      t.same(await refused(stream(base, prompts.forbid)), { status: 400, code: 'content_filter' })
    }
    const named = toFile(sound, `${prompts.forbid}.mp3`, { type: 'audio/mpeg' })
    t.same(
      await refused(at('').audio.transcriptions.create({ model: 'whisper-1', file: await named })),
      { status: 400, code: 'content_filter' },
      'the name of the file too'
    )
    const text = toFile(Buffer.from(prompts.forbid), 'a.mp3', { type: 'audio/mpeg' })
    t.same(
      await refused(at('').audio.transcriptions.create({ model: 'whisper-1', file: await text })),
      { status: 400, code: 'content_filter' },
      'and what only claims to be sound'
    )
    t.equal(upstream.requests.length, before)
  })

  t.test('what is no form of this API is refused before anything is sent', async (t) => {
    const before = upstream.requests.length
    const send = async (type: string, body: string) => {
      const response = await fetch(`${url}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': type },
        body
      })
      const { error } = (await response.json()) as { error: { code: string; param: string } }
      return `${response.status} ${error.code} ${error.param}`
    }
    const form = 'multipart/form-data; boundary=B'
    const part = (name: string) => `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nx\r\n`
    t.equal(await send('application/json', '{}'), '415 unsupported_media_type null')
    t.equal(await send('multipart/form-data', part('model')), '415 unsupported_media_type null')
    t.equal(await send(form, ''), '400 validation_error ')
    t.equal(await send(form, `${part('model')}--B--`), '400 validation_error file')
    t.equal(await send(form, part('model')), '400 validation_error ')
    t.equal(await send(form, `${part('model')}${part('model')}--B--`), '400 validation_error model')
    t.equal(await send(form, 'x'.repeat(2_000_000)), '413 payload_too_large null')
    t.equal(upstream.requests.length, before)
  })
})
