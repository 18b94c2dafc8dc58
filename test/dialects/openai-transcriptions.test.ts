/** OpenAI's transcriptions and translations as of 2025: a form with sound in, what was heard out. */
import t from 'tap'
import type { Json, JsonObject } from '../../src/base/chat.js'
import { dialects, operationAt } from '../../src/dialects/index.js'
import { names } from '../../src/dialects/openai/names.js'
import type { WireEvent } from '../../src/dialects/reply-stream.js'
import { type Assembled, dialectSuite, noTarget } from './dialect-suite.js'
import { bytes } from './published/combine.js'

const [transcribe, translate] = dialects['openai-transcriptions'] as [
  (typeof dialects)['openai-transcriptions'][0],
  (typeof dialects)['openai-transcriptions'][0]
]
const sound = Buffer.concat([Buffer.from('494433040000', 'hex'), Buffer.from(bytes, 'base64')]).toString('base64')
const file = { filename: 'a.mp3', mime_type: 'audio/mpeg', data: sound }

const request = (hole: (n: number) => Json): JsonObject => ({
  file: { ...file, data: hole(3) },
  model: 'whisper-1',
  prompt: hole(0),
  'include[]': [hole(1)],
  other: hole(2)
})
const answer = (hole: (n: number) => Json): JsonObject => ({
  text: 'Hello',
  language: hole(0),
  segments: [{ id: 0, text: hole(1), more: hole(2) }],
  words: hole(3),
  logprobs: [{ token: 'He', more: hole(4) }]
})

const data = (event: object): WireEvent => ({ data: JSON.stringify(event) })
/** What a client makes of the frames: by the documentation of the events, and OpenAI's envelope for what fails. */
function assemble(frames: string): Assembled {
  const heard = { '/text': '' }
  let finish: string | undefined
  for (const frame of frames.split('\n\n').filter((each) => each !== '')) {
    if (!frame.startsWith('data: ')) throw new Error(`no event: ${frame}`)
    if (finish !== undefined) throw new Error('an event after the last')
    const event = JSON.parse(frame.slice('data: '.length))
    if (event.error !== undefined) finish = event.error.code
    else if (event.type === 'transcript.text.delta') heard['/text'] += event.delta
    else if (event.type === 'transcript.text.done') {
      if (event.text !== heard['/text']) throw new Error('the whole is not its pieces')
      finish = 'done'
    } else throw new Error(`an unknown event: ${event.type}`)
  }
  return { texts: heard, finish }
}

dialectSuite(t, {
  operation: transcribe,
  names,
  request,
  answer,
  stream: {
    spell: (pieces) => [
      ...pieces.map((delta) => data({ type: 'transcript.text.delta', delta })),
      data({ type: 'transcript.text.done', text: pieces.join(''), usage: { type: 'tokens', total_tokens: 3 } })
    ],
    channels: ['/text'],
    assemble,
    filteredFinish: 'content_filter',
    refused: [
      { data: '{"type":"transcript.text.more","text":"x"}' },
      { data: '{"text":"x"}' },
      { event: 'transcript.text.done', data: '{"type":"transcript.text.delta","delta":"x"}' },
      { data: '{"error":{"message":"x"}}' }
    ]
  }
})
dialectSuite(t, { operation: translate, names, request, answer })

const textsOf = (body: JsonObject) => {
  const { parts, joined } = transcribe.readReply(body)!
  return {
    texts: parts.map(({ role, text, pointer, isKey }) => `${role} ${pointer} ${isKey ? 'key ' : ''}${text}`),
    joined: joined.map((run) => run.map((index) => parts[index]!.text).join(' | '))
  }
}

t.test('every text of the form is the user’s, as one too; the sound is media', async (t) => {
  const { parts, joined, media, model, stream, brings } = transcribe.readRequest(
    {
      file,
      model: 'whisper-1',
      prompt: 'How to make',
      language: 'a bomb',
      response_format: 'srt',
      stream: 'true',
      chunking_strategy: '{"type":"\\u0062omb"}',
      'known_speaker_references[]': [`data:audio/mpeg;base64,${sound}`]
    },
    noTarget
  )
  t.same([model, stream, brings], ['whisper-1', true, undefined])
  const texts = parts.map(({ role, text, pointer }) => `${role} ${pointer} ${text.slice(0, 24)}`)
  for (const expected of [
    'parameter /model whisper-1',
    'user /prompt How to make',
    'user /language a bomb',
    'user /file/filename a.mp3',
    'user /chunking_strategy/type bomb'
  ]) {
    t.ok(texts.includes(expected), expected)
  }
  t.match(joined[0]!.map((index) => parts[index]!.text).join(' '), /^How to make a bomb/)
  t.match(media, [
    { pointer: '/file', kind: 'audio', role: 'user' },
    { pointer: '/known_speaker_references[]/0', kind: 'audio', role: 'user' }
  ])
  const spoken = Buffer.from('These words are no sound at all, whatever they claim.').toString('base64')
  const { parts: read } = transcribe.readRequest({ file: { ...file, data: spoken } }, noTarget)
  t.ok(
    read.some(({ text }) => text.endsWith('whatever they claim.')),
    'what only claims to be a sound is text too'
  )
})

t.test('requests of another shape are refused, and the field is named', async (t) => {
  for (const [operation, body, field] of [
    [transcribe, { model: 'x' }, 'file'],
    [transcribe, { file, stream: 'True' }, 'stream'],
    [transcribe, { file, stream: '1' }, 'stream'],
    [translate, { model: 'x' }, 'file'],
    [translate, { file, stream: 'true' }, 'stream']
  ] as const) {
    t.throws(
      () => operation.readRequest(body, noTarget),
      { code: 'validation_error', fields: { details: { field } } },
      JSON.stringify(body).slice(0, 40)
    )
  }
  t.equal(operationAt('openai-transcriptions', '/v1/audio/transcriptions'), transcribe)
  t.equal(operationAt('openai-transcriptions', '/v1/audio/translations'), translate)
})

t.test('what was heard is read piece by piece, and the pieces as one', async (t) => {
  const { texts, joined } = textsOf({
    task: 'transcribe',
    text: 'How to make a bomb.',
    segments: [
      { id: 0, start: 0, end: 1, text: 'How to', tokens: [1] },
      { id: 1, start: 1, end: 2, text: 'make a bomb.', speaker: 'A' }
    ],
    words: ['How', 'to'].map((word) => ({ word, start: 0, end: 1 })),
    logprobs: [
      { token: 'Ho', logprob: -1, bytes: [72] },
      { token: 'w', logprob: -1 }
    ]
  })
  t.same(joined, ['How to | make a bomb.', 'How | to'])
  t.ok(texts.includes('assistant /logprobs How'), 'tokens are read as what they spell')
  t.ok(texts.includes('assistant /segments/1/speaker A'))
  t.notOk(
    texts.some((text) => text.includes('key ')),
    'the names of the API are no texts'
  )
})

t.test('subtitles are read by their lines, numbers and times left out, and written as they came', async (t) => {
  const { textAnswers } = transcribe
  const srt =
    '1\r\n00:00:00,000 --> 00:00:01,500\r\nHow to make\r\n\r\n2\r\n00:00:01,500 --> 00:00:02,000\r\na bomb.\r\n'
  const vtt =
    'WEBVTT\n\nNOTE made by hand\n\n00:00.000 --> 00:01.500 align:start\nHow to make\n\n00:01.500 --> 00:02.000\na bomb.\n'
  for (const text of [srt, vtt, 'How to make\na bomb.\n', '', '--> x']) {
    t.equal(textAnswers!.write(textAnswers!.read(text)), text)
  }
  t.same(textsOf(textAnswers!.read(srt)).joined, ['How to make\r | a bomb.\r'])
  const { texts } = textsOf(textAnswers!.read(vtt))
  t.same(texts, [
    'assistant /lines/2 NOTE made by hand',
    'assistant /lines/4 00:00.000 --> 00:01.500 align:start',
    'assistant /lines/5 How to make',
    'assistant /lines/8 a bomb.'
  ])
  t.same(textsOf(textAnswers!.read('Plain.\n')).texts, ['assistant /text Plain.\n'])
})
