/** OpenAI's speech: a text in, the same text as sound out, as it is made or as events. */
import type { ChatRequest, JsonObject } from '../base/chat.js'
import { invalid } from '../base/errors.js'
import type { Dialect } from './dialect.js'
import { stringField } from './fields.js'
import { HeldStream } from './held-stream.js'
import { offenderBy } from './offender.js'
import { AudioEventsShape } from './openai/audio-events.js'
import { family } from './openai/family.js'
import { dataFrame } from './openai/frames.js'
import { names } from './openai/names.js'
import { speechEvents } from './openai-speech/stream.js'
import { turnless } from './turnless.js'
import { Turns } from './turns.js'
import { Collector } from './walk.js'

const fields = new Set(['input', 'instructions'])

function readRequest(body: JsonObject): ChatRequest {
  if (body.input === undefined) throw invalid('input', 'missing', 'The field input is required.')
  const input = stringField(body, 'input') ?? ''
  const instructions = stringField(body, 'instructions') ?? ''
  const model = stringField(body, 'model')
  const format = stringField(body, 'stream_format') ?? 'audio'
  if (format !== 'audio' && format !== 'sse') {
    throw invalid('stream_format', 'unknown_value', 'stream_format must be audio or sse.')
  }
  const out = new Collector(names)
  const turns = new Turns(out)
  turns.add('system', [out.text('system', instructions, '/instructions')])
  turns.add('user', [out.text('user', input, '/input')])
  turns.end()
  out.rest('parameter', body, '', fields)
  const { parts, joined, media } = out
  return { parts, joined, media, stream: format === 'sse', model, metadata: undefined, session: undefined }
}

export const openaiSpeech: Dialect = {
  ...family,
  ...turnless(family),
  id: 'openai-speech',
  suffix: '',
  paths: ['/v1/audio/speech'],
  answersWithSound: true,
  readRequest,
  // An answer without sound is invalid.
  readReply: () => undefined,
  openStream: () => new HeldStream(new AudioEventsShape(speechEvents)),
  turnStream: ({ denial, requestId }) => dataFrame(family.denied(denial, requestId)),
  offender: offenderBy(/^\/(?:input|instructions)$/, names)
}
