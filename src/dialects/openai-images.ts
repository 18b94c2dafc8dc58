/** OpenAI's image generation: a prompt in, pictures out. */
import type { ChatReply, ChatRequest, JsonObject } from '../base/chat.js'
import { invalid } from '../base/errors.js'
import type { Dialect } from './dialect.js'
import { offenderBy } from './offender.js'
import { family } from './openai/family.js'
import { names } from './openai/names.js'
import { readOptions } from './openai/request.js'
import { isObject } from './rewrite.js'
import { turnless } from './turnless.js'
import { Collector } from './walk.js'

const requestFields = new Set(['prompt'])
const replyFields = new Set(['data'])

function readRequest(body: JsonObject): ChatRequest {
  const { prompt } = body
  if (prompt === undefined) throw invalid('prompt', 'missing', 'The field prompt is required.')
  if (typeof prompt !== 'string') throw invalid('prompt', 'wrong_type', 'prompt must be a string.')
  const { model, metadata, stream } = readOptions(body)
  // A picture on the way would be on a screen before what was said of it is judged.
  if (stream) throw invalid('stream', 'unknown_value', 'Pictures are not streamed here.')
  const out = new Collector(names)
  out.text('user', prompt, '/prompt')
  out.rest('parameter', body, '', requestFields)
  const { parts, joined, media } = out
  return { parts, joined, media, stream: false, model, metadata, session: undefined, brings: 'image' }
}

/** Each picture is media, in base64 or at an address; what stands beside it is read (the prompt as the model rewrote it). */
function readReply(body: JsonObject): ChatReply | undefined {
  if (!Array.isArray(body.data)) return undefined
  const out = new Collector(names)
  for (const [i, item] of body.data.entries()) {
    if (!isObject(item)) return undefined
    out.mediaObject('image', 'assistant', item, `/data/${i}`)
  }
  out.rest('parameter', body, '', replyFields)
  return out
}

export const openaiImages: Dialect = {
  ...family,
  ...turnless(family),
  id: 'openai-images',
  suffix: '/generations',
  paths: ['/v1/images/generations'],
  readRequest,
  readReply,
  offender: offenderBy(/^\/prompt$/, names)
}
