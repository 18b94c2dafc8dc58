/** OpenAI's speech as of 2025: a text in, sound out. */
import t from 'tap'
import type { JsonObject } from '../../src/base/chat.js'
import { dialects } from '../../src/dialects/index.js'
import { names } from '../../src/dialects/openai/names.js'
import { dialectSuite, noTarget } from './dialect-suite.js'

const [speech] = dialects['openai-speech']

dialectSuite(t, {
  operation: speech,
  names,
  request: (hole) => ({
    model: 'tts',
    input: 'Hello',
    instructions: 'Softly',
    voice: hole(0),
    speed: hole(1),
    other: hole(2)
  }),
  answer: (hole) => ({ error: hole(0), other: hole(1) })
})

t.test('what is said and how are read, as one too', async (t) => {
  const { parts, joined, media, brings } = speech.readRequest(
    { model: 'tts', input: 'Hello', instructions: 'Softly', voice: 'alloy' },
    noTarget
  )
  t.match(parts, [
    { role: 'system', text: 'Softly', pointer: '/instructions' },
    { role: 'user', text: 'Hello', pointer: '/input' }
  ])
  t.same(joined, [[0, 1]])
  t.same([media, brings], [[], undefined])
  t.equal(speech.readReply({ text: 'x' }), undefined)
})

t.test('requests of another shape are refused, and the field is named', async (t) => {
  for (const [body, field] of [
    [{}, 'input'],
    [{ input: ['x'] }, 'input'],
    [{ input: 'x', instructions: 5 }, 'instructions'],
    [{ input: 'x', model: 5 }, 'model'],
    [{ input: 'x', stream_format: 'wav' }, 'stream_format']
  ] as [JsonObject, string][]) {
    t.throws(
      () => speech.readRequest(body, noTarget),
      { code: 'validation_error', fields: { details: { field } } },
      field
    )
  }
})
