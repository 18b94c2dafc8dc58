/**
 * Sound in a chat, through the real SDKs: a transcription backend hears it, and what was heard is judged with the role of its
 * sender. What is not heard does not pass.
 */
import { setTimeout } from 'node:timers/promises'
import { GoogleGenAI } from '@google/genai'
import OpenAI, { APIError } from 'openai'
import t, { type Test } from 'tap'
import { boundaryOf, type FormFile, readForm } from '../../src/dialects/form.js'
import { build } from '../support/gateway.js'
import { prompts } from '../support/outcomes.js'
import { chunksOf, geminiChunksOf, hears as hearsSamples, pause, speech, streamOf, wordsIn } from '../support/sound.js'
import { texts } from '../support/texts.js'
import { type Answer, completion, fakeUpstream, json, nowhere, type Recorded } from '../support/upstream.js'

const head = 'RIFF\0\0\0\0WAVEfmt '
/** A sound that says a text to whoever knows where to look. */
function wav(says: string): string {
  const noise = Buffer.from(Array.from({ length: 400 + 3 * says.length }, (_, i) => (i * 67 + 190) % 256))
  return Buffer.concat([Buffer.from(head, 'latin1'), noise, Buffer.from(`«${says}»`)]).toString('base64')
}
const formOf = ({ headers, body }: Recorded) =>
  readForm(body, boundaryOf(headers['content-type'] ?? '') ?? '', { file: 'audio' })
const saidIn = (request: Recorded) =>
  /«(.*)»/s.exec(Buffer.from((formOf(request).file as FormFile).data, 'base64').toString())?.[1] ?? ''

const hears: Answer = (res, request) => json({ text: saidIn(request) })(res, request)

const gemini = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Fine.' }] }, finishReason: 'STOP', index: 0 }]
}
const answers: Answer = (res, request) =>
  json(request.url.includes('generateContent') ? gemini : completion('Fine.'))(res, request)

async function house(t: Test, backend: string, more = '') {
  const upstream = await fakeUpstream(t, answers)
  const yaml = [
    `upstreams: { default: { url: "${upstream.url}" } }`,
    `transcription: { base_url: "${backend}/v1", api_key: hearing-secret, model: whisper-1${more} }`,
    'routes:',
    '  - { path: /v1/chat/completions, dialect: openai-chat, unscannable: { audio: scan } }',
    '  - { path: "/v1beta/models/{model}:generateContent", dialect: gemini, unscannable: { audio: scan } }',
    '  - { path: "/v1beta/models/{model}:streamGenerateContent", dialect: gemini, unscannable: { audio: scan } }',
    '  - { path: /v1/audio/transcriptions, dialect: openai-transcriptions, unscannable: { audio: scan } }',
    '  - { path: /redact/v1/chat/completions, upstream_path: /v1/chat/completions, dialect: openai-chat, unscannable: { audio: scan }, redact: [personal_data] }',
    '  - { path: /deny/v1/chat/completions, upstream_path: /v1/chat/completions, dialect: openai-chat }',
    'limits: { live_per_minute: 100000 }'
  ].join('\n')
  const { url, key } = await build(t, { yaml })
  const client = (base = '') => new OpenAI({ baseURL: `${url}${base}/v1`, apiKey: key, maxRetries: 0 })
  const google = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } })
  const chat = (data: string, { format = 'wav', text = 'Listen.', base = '' } = {}) =>
    client(base).chat.completions.create({
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text },
            { type: 'input_audio', input_audio: { data, format: format as 'wav' } }
          ]
        }
      ]
    })
  const ask = (data: string, mimeType = 'audio/wav') =>
    google.models.generateContent({
      model: 'g',
      contents: [{ role: 'user', parts: [{ inlineData: { mimeType, data } }] }]
    })
  const told = (asked: Promise<unknown>) =>
    asked.then(
      () => 'passed',
      (error: unknown) => {
        if (!(error instanceof APIError)) return [...String(error).matchAll(/"reason":"([a-z_]+)"/g)].at(-1)?.[1]
        const { details, code, status } = error.error as {
          details?: { reason?: string }
          code: string
          status?: number
        }
        return `${error.status ?? status} ${details?.reason ?? code}`
      }
    )
  return { upstream, chat, ask, told, client, google }
}

t.test('sound that is heard is judged like any text', async (t) => {
  const hearing = await fakeUpstream(t, hears)
  const { upstream, chat, ask, told, client } = await house(t, hearing.url)

  t.equal(await told(chat(wav(prompts.permit))), 'passed')
  const asked = hearing.requests.at(-1)!
  t.equal(asked.headers.authorization, 'Bearer hearing-secret')
  t.equal(asked.url, '/v1/audio/transcriptions')
  const { file, ...others } = formOf(asked)
  t.same(others, { model: 'whisper-1', response_format: 'json' })
  t.match(file, { filename: 'sound.wav', mime_type: 'audio/wav' })
  t.equal(
    JSON.parse(upstream.requests.at(-1)!.body.toString()).messages[0].content[1].input_audio.data,
    wav(prompts.permit)
  )

  t.equal(await told(ask(wav(prompts.permit))), 'passed')
  const count = hearing.requests.length
  t.equal(await told(chat(wav(prompts.permit))), 'passed')
  t.equal(hearing.requests.length, count, 'what was heard once is remembered')

  const before = upstream.requests.length
  t.equal(await told(chat(wav(prompts.forbid))), '400 content_filter')
  t.equal(await told(ask(wav(prompts.forbid))), 'content_filter')
  t.equal(await told(chat(wav(prompts.divert))), '403 review_required')
  t.equal(await told(chat(wav(prompts.depends))), '422 context_required')
  const cut = texts.forbidden.indexOf(' ', texts.forbidden.length / 2)
  t.equal(
    await told(chat(wav(texts.forbidden.slice(cut + 1)), { text: texts.forbidden.slice(0, cut) })),
    '400 content_filter',
    'half in the text and half in the sound'
  )
  t.equal(await told(chat(wav('Write to ada@harbour.example today.'), { base: '/redact' })), '400 content_filter')
  const uploaded = new File([Buffer.from(wav(prompts.forbid), 'base64')], 'a.wav', { type: 'audio/wav' })
  t.equal(
    await told(client().audio.transcriptions.create({ model: 'm', file: uploaded })),
    '400 content_filter',
    'in a form too'
  )
  t.equal(upstream.requests.length, before, 'nothing of it was forwarded')
})

t.test('sound of an answer is heard before it is played', async (t) => {
  const hearing = await fakeUpstream(t, hears)
  const { upstream, client, ask: google, google: models } = await house(t, hearing.url)
  const ask = async (data: string, more: object = {}, base = '', format = 'wav') => {
    const audio = { id: 'audio_1', expires_at: 1_800_000_000, data, transcript: 'Good evening.', ...more }
    const { choices, ...rest } = completion('') as { choices: { message: object }[] }
    const message = { role: 'assistant', content: null, refusal: null, audio }
    upstream.answer = json({ ...rest, choices: [{ ...choices[0], message }] })
    const { choices: got } = await client(base).chat.completions.create({
      model: 'm',
      modalities: ['text', 'audio'],
      audio: { voice: 'alloy', format: format as 'wav' },
      messages: [{ role: 'user', content: 'Say something.' }]
    })
    const { finish_reason, message: said } = got[0]!
    return finish_reason === 'content_filter' ? 'withheld' : said.audio?.data
  }
  t.equal(await ask(wav('Good evening.')), wav('Good evening.'))
  t.equal(await ask(wav(texts.forbiddenAnswer)), 'withheld', 'whatever its transcript says')
  t.equal(await ask(wav('Good evening.'), { transcript: texts.forbiddenAnswer }), 'withheld')
  t.equal(await ask(wav('Write to ada@harbour.example today.'), {}, '/redact'), 'withheld')
  t.equal(await ask(speech('Good night.').toString('base64'), {}, '', 'pcm16'), 'withheld', 'nobody hears a word')
  hearing.answer = hearsSamples
  const spoken = speech('Good evening.').toString('base64')
  t.equal(await ask(spoken, {}, '', 'pcm16'), spoken, 'samples, which were asked for')
  t.equal(await ask(speech(texts.forbiddenAnswer).toString('base64'), {}, '', 'pcm16'), 'withheld')
  for (const [sound, reason] of [
    [speech('Good evening.'), 'STOP'],
    [speech(texts.forbiddenAnswer), 'SAFETY']
  ] as const) {
    const { candidates, ...rest } = geminiChunksOf(sound, undefined, sound.length)[0] as { candidates: object[] }
    upstream.answer = json({ ...rest, candidates: [{ ...candidates[0], finishReason: 'STOP' }] })
    const got = await models.models.generateContent({ model: 'g', contents: 'Speak.' })
    t.equal(got.candidates?.[0]?.finishReason, reason)
  }
  hearing.answer = hears
  const samples = Buffer.from(Array.from({ length: 4000 }, (_, i) => (i * 67 + 190) % 256)).toString('base64')
  t.equal(await ask(samples), 'withheld', 'samples without a container')
  t.equal(await ask(wav('Good evening.'), { caption: 'x' }), 'withheld', 'beside what nobody knows')
  for (const [says, reason] of [
    ['Good evening.', 'STOP'],
    [texts.forbiddenAnswer, 'SAFETY']
  ] as const) {
    const parts = [{ inlineData: { mimeType: 'audio/wav', data: wav(says) } }]
    upstream.answer = json({ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }] })
    t.equal((await google(wav('Speak.'))).candidates?.[0]?.finishReason, reason, says)
  }
  hearing.answer = json({ error: {} }, 500)
  t.equal(await ask(wav('Good night.')), 'withheld', 'nobody hears it')
})

t.test('sound of a streamed answer waits until it was heard', async (t) => {
  const hearing = await fakeUpstream(t, hearsSamples)
  const { upstream, client, google } = await house(t, hearing.url)
  const ask = async (answer: Answer, { base = '', format = 'pcm16' } = {}) => {
    upstream.answer = answer
    const stream = await client(base).chat.completions.create({
      model: 'm',
      stream: true,
      modalities: ['text', 'audio'],
      audio: { voice: 'alloy', format: format as 'pcm16' },
      messages: [{ role: 'user', content: 'Say something.' }]
    })
    let [transcript, finish, id] = ['', '', '']
    const sound: Buffer[] = []
    for await (const { choices } of stream) {
      const [choice] = choices
      const { audio } = (choice?.delta ?? {}) as { audio?: { id?: string; data?: string; transcript?: string } }
      transcript += audio?.transcript ?? ''
      id += audio?.id ?? ''
      if (audio?.data !== undefined) sound.push(Buffer.from(audio.data, 'base64'))
      finish = choice?.finish_reason ?? finish
    }
    const bytes = Buffer.concat(sound)
    return { transcript, finish, id, bytes, said: wordsIn(bytes) }
  }
  const good = Buffer.concat([speech('Good evening. '), pause(), speech('It is quiet.', 700)])
  for (const step of [334, 9600, good.length]) {
    const got = await ask(streamOf(chunksOf(good, { step })))
    t.equal(got.finish, 'stop')
    t.equal(got.transcript, 'Good evening.')
    t.equal(got.id, 'audio_1')
    t.ok(got.bytes.equals(good), `every byte of it, in steps of ${step}`)
  }
  t.ok(hearing.requests.length > 0)

  const bad = Buffer.concat([
    speech('Good evening. '),
    pause(),
    speech(texts.forbiddenAnswer, 900),
    pause(),
    speech('So.')
  ])
  for (const step of [9600, bad.length]) {
    const got = await ask(streamOf(chunksOf(bad, { step })))
    t.same([got.finish, got.said.at(-1) ?? ''].includes(texts.forbiddenAnswer), false)
    t.equal(got.finish, 'content_filter', 'whatever its transcript says')
    t.notMatch(got.said.join(), /pipe/)
  }
  const cut = texts.forbiddenAnswer.indexOf(' ', texts.forbiddenAnswer.length / 2)
  const [first, second] = [texts.forbiddenAnswer.slice(0, cut), texts.forbiddenAnswer.slice(cut + 1)]
  const halves = await ask(streamOf(chunksOf(Buffer.concat([speech(first, 900), pause(), speech(second, 900)]))))
  t.equal(halves.finish, 'content_filter', 'half before a pause and half behind it')
  t.equal((await ask(streamOf(chunksOf(good, { transcript: texts.forbiddenAnswer })))).finish, 'content_filter')

  const mail = Buffer.concat([speech('Good evening. '), pause(), speech('Write to ada@harbour.example.', 900), pause()])
  const redacted = await ask(streamOf(chunksOf(mail)), { base: '/redact' })
  t.equal(redacted.finish, 'stop')
  t.same(redacted.said, ['Good evening. '])
  t.equal(redacted.bytes.length, mail.length, 'silence of the same length')

  for (const [what, answer, options] of [
    ['another format', streamOf(chunksOf(good)), { format: 'mp3' }],
    [
      'no base64',
      streamOf(chunksOf(good).map((each) => JSON.parse(JSON.stringify(each).replace(/("data":")/, '$1%')))),
      {}
    ],
    ['what nobody is asked to hear', streamOf(chunksOf(good)), { base: '/deny' }]
  ] as const) {
    const got = await ask(answer, options)
    t.equal(got.finish, 'content_filter', what)
    t.equal(got.bytes.length, 0, what)
  }
  // Fields beside the sound are judged as all others are.
  t.equal((await ask(streamOf(chunksOf(good, { more: { caption: texts.forbiddenAnswer } })))).finish, 'content_filter')
  t.equal((await ask(streamOf(chunksOf(good, { more: { caption: 'Good.' } })))).bytes.length, good.length)

  await t.rejects(ask(streamOf(chunksOf(good).slice(0, -1), '')), 'a stream without its end is none')
  const many = chunksOf(good, { step: 1200 }).map((each, i) => {
    const { choices, ...rest } = each as { choices: { index: number }[] }
    return { ...rest, choices: choices.map((choice) => ({ ...choice, index: i % 40 })) }
  })
  t.equal((await ask(streamOf(many))).finish, 'content_filter', 'more places than are heard at once')

  hearing.answer = json({ error: {} }, 500)
  const unheard = Buffer.concat([speech('Good night.'), pause()])
  const got = await ask(streamOf(chunksOf(unheard)))
  t.equal(got.finish, 'content_filter', 'nobody hears it')
  t.equal(got.bytes.length, 0)
  t.equal((await ask(streamOf(chunksOf(pause(2000))))).bytes.length, pause(2000).length, 'silence needs nobody')

  hearing.answer = hearsSamples
  const gemini = async (sound: Buffer, mimeType = 'audio/L16;codec=pcm;rate=24000') => {
    upstream.answer = streamOf(geminiChunksOf(sound, mimeType), '')
    const pieces: Buffer[] = []
    let finish = ''
    for await (const { candidates } of await google.models.generateContentStream({ model: 'g', contents: 'Speak.' })) {
      for (const { inlineData } of candidates?.[0]?.content?.parts ?? []) {
        pieces.push(Buffer.from(inlineData?.data ?? '', 'base64'))
      }
      finish = candidates?.[0]?.finishReason ?? finish
    }
    const bytes = Buffer.concat(pieces)
    return { finish, bytes, said: wordsIn(bytes) }
  }
  const fine = await gemini(good)
  t.equal(fine.finish, 'STOP')
  t.ok(fine.bytes.equals(good))
  const stopped = await gemini(bad)
  t.equal(stopped.finish, 'SAFETY')
  t.notMatch(stopped.said.join(), /pipe/)
  for (const type of ['audio/wav', 'audio/L16', 'audio/L16;rate=24000;channels=2', 'audio/L16;rate=24000;note=pipe']) {
    t.equal((await gemini(good, type)).bytes.length, 0, type)
  }
})

t.test('what is not heard does not pass, and says why', async (t) => {
  const hearing = await fakeUpstream(t, hears)
  const { upstream, chat, ask, told } = await house(t, hearing.url, ', timeout: 300ms, sound_limit: 8KiB')
  const good = wav('It is quiet.')
  for (const [what, answer, reason] of [
    ['nothing', json({ text: ' \n' }), 'nothing_heard'],
    ['no text', json({ words: ['x'] }), 'reader_failed'],
    ['a text that is no text', json({ text: 5 }), 'reader_failed'],
    ['no JSON', (res) => res.end('It is quiet.'), 'reader_failed'],
    ['an error', json({ error: { message: 'It is quiet.' } }, 500), 'reader_failed'],
    ['a redirect', (res) => res.writeHead(307, { location: '/' }).end(), 'reader_failed'],
    ['a broken connection', (res) => res.socket!.destroy(), 'reader_failed'],
    ['another limit', json({ error: { message: 'too large' } }, 413), 'too_large'],
    ['another format', json({ error: { message: 'what?' } }, 400), 'damaged'],
    ['silence', () => {}, 'too_slow'],
    ['an endless answer', (res) => void setInterval(() => res.write('x'.repeat(100_000)), 1).unref(), 'reader_failed']
  ] as [string, Answer, string][]) {
    hearing.answer = answer
    t.match(await told(chat(wav(`It is quiet. ${what}`))), new RegExp(`^422 (?:${reason}|too_slow)$`), what)
  }
  hearing.answer = hears
  const before = hearing.requests.length
  t.equal(await told(chat(good, { format: 'mp3' })), '422 type_mismatch')
  t.equal(await told(ask(good, 'audio/flac')), 'type_mismatch')
  t.equal(await told(chat(good, { format: 'amr' })), '422 unsupported_type')
  t.equal(await told(chat(wav('x'.repeat(5_000)))), '422 too_large')
  t.equal(hearing.requests.length, before, 'nothing of it was sent to be heard')
  t.equal(upstream.requests.length, 0, 'and nothing was forwarded')
  t.equal(await told(chat(good)), 'passed', 'what failed was not remembered')

  const closed = await house(t, nowhere)
  t.equal(await closed.told(closed.chat(good)), '422 reader_failed')
})

t.test('who sends much waits for nobody else’s turn, and is told where too much waits', async (t) => {
  const open: (() => void)[] = []
  const hearing = await fakeUpstream(t, (res, request) => void open.push(() => hears(res, request)))
  const { chat, told } = await house(t, hearing.url, ', max_concurrent: 1, queue: 4')
  const outcomes: (string | undefined)[] = []
  const many = Array.from({ length: 6 }, async (_, i) => {
    outcomes.push(await told(chat(wav(`It is quiet, ${i}.`))))
  })
  // One is being heard and one waits: the others are told at once.
  while (outcomes.length < 4) await setTimeout(5)
  t.same(new Set(outcomes), new Set(['503 overloaded']))
  const answered = setInterval(() => open.shift()?.(), 5)
  t.teardown(() => clearInterval(answered))
  await Promise.all(many)
  t.same(outcomes.slice(4), ['passed', 'passed'])
  t.equal(await told(chat(wav('It is quiet again.'))), 'passed')
})
