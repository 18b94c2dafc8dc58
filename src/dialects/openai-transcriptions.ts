/**
 * OpenAI's transcriptions and translations: a form with sound in, its words out. The sound is media, and follows
 * `unscannable`; all texts of the form are the user's; the transcript is judged as the backend's answer.
 */
import type { ChatRequest, JsonObject } from '../base/chat.js'
import { invalid } from '../base/errors.js'
import type { Dialect } from './dialect.js'
import type { FormFiles } from './form.js'
import { HeldStream } from './held-stream.js'
import { offenderBy } from './offender.js'
import { AudioEventsShape } from './openai/audio-events.js'
import { family } from './openai/family.js'
import { flag, readFormFields, requiredField, textOf } from './openai/form-fields.js'
import { dataFrame } from './openai/frames.js'
import { names } from './openai/names.js'
import { forgetTranscriptTokens, readSubtitles, readTranscript, writeSubtitles } from './openai-transcriptions/reply.js'
import { transcriptEvents } from './openai-transcriptions/stream.js'
import { turnless } from './turnless.js'
import { Collector } from './walk.js'

const form: FormFiles = { file: 'audio' }

function readRequest(body: JsonObject): ChatRequest {
  requiredField(body, 'file')
  const stream = flag(body, 'stream')
  const out = new Collector(names)
  readFormFields(out, body, form)
  const { parts, joined, media } = out
  return { parts, joined, media, stream, model: textOf(body, 'model'), metadata: undefined, session: undefined }
}

function readWhole(body: JsonObject): ChatRequest {
  const chat = readRequest(body)
  if (chat.stream) throw invalid('stream', 'unknown_value', 'Translations are not streamed.')
  return chat
}

const shared = {
  ...family,
  ...turnless(family),
  id: 'openai-transcriptions',
  form,
  textAnswers: {
    types: new Set(['text/plain', 'text/vtt', 'text/srt', 'application/x-subrip']),
    read: readSubtitles,
    write: writeSubtitles
  },
  readReply: readTranscript,
  forgetTokens: forgetTranscriptTokens,
  offender: offenderBy(/^\/(?:prompt|file)$/, names)
} as const satisfies Partial<Dialect>

export const openaiTranscriptions: Dialect = {
  ...shared,
  suffix: '/transcriptions',
  paths: ['/v1/audio/transcriptions'],
  readRequest,
  openStream: () => new HeldStream(new AudioEventsShape(transcriptEvents)),
  turnStream: ({ denial, requestId }) => dataFrame(family.denied(denial, requestId))
}

export const openaiTranslations: Dialect = {
  ...shared,
  suffix: '/translations',
  paths: ['/v1/audio/translations'],
  readRequest: readWhole
}
