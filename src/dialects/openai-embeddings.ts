/** OpenAI's embeddings: texts in, numbers out. */
import type { ChatReply, ChatRequest, Json, JsonObject } from '../base/chat.js'
import { invalid } from '../base/errors.js'
import type { Dialect } from './dialect.js'
import { isPackedVector } from './media.js'
import { offenderBy } from './offender.js'
import { family } from './openai/family.js'
import { names } from './openai/names.js'
import { readPrompts } from './openai/prompts.js'
import { readOptions } from './openai/request.js'
import { readTokenFields } from './openai/token-fields.js'
import { isObject } from './rewrite.js'
import { type Fields, readFields, walked } from './taken.js'
import { turnless } from './turnless.js'
import { Collector } from './walk.js'

const bodyFields = new Set(['input'])

function readRequest(body: JsonObject): ChatRequest {
  const { input } = body
  const { model, metadata } = readOptions(body)
  const out = new Collector(names)
  // Servers that embed conversations (vLLM) take `messages` instead, which is read leaf by leaf.
  if (input !== undefined) readPrompts(out, input, 'input')
  else if (body.messages === undefined) throw invalid('input', 'missing', 'The field input is required.')
  out.walk('user', body.messages, '/messages')
  readTokenFields(out, body)
  out.rest('parameter', body, '', new Set([...bodyFields, 'messages']))
  return { model, metadata, stream: false, parts: out.parts, joined: out.joined, media: out.media, session: undefined }
}

const replyFields = new Set(['data'])
/** The vector, or base64 of its floats, which the SDKs ask for: anything else in its place is judged. */
const dataFields: Fields<Collector> = { embedding: isVector }

function readReply(body: JsonObject): ChatReply | undefined {
  if (!Array.isArray(body.data)) return undefined
  const out = new Collector(names)
  for (const [i, item] of body.data.entries()) {
    if (!isObject(item)) return undefined
    readFields(dataFields, item, `/data/${i}`, out, walked(out, 'assistant'))
  }
  out.rest('parameter', body, '', replyFields)
  return out
}

function isVector(value: Json | undefined): boolean {
  if (typeof value === 'string') return isPackedVector(value)
  return Array.isArray(value) && value.every((each) => typeof each === 'number')
}

export const openaiEmbeddings: Dialect = {
  ...family,
  ...turnless(family),
  id: 'openai-embeddings',
  suffix: '',
  paths: ['/v1/embeddings'],
  readRequest,
  readReply,
  offender: offenderBy(/^\/input\/\d+/, names)
}
