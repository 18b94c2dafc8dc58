/** OpenAI's pictures: a prompt in, and for edits a form with pictures beside it; pictures out. */
import type { Brought, ChatReply, ChatRequest, JsonObject } from '../base/chat.js'
import { type Fault, invalid } from '../base/errors.js'
import type { Dialect } from './dialect.js'
import type { FormFiles } from './form.js'
import { offenderBy } from './offender.js'
import { family } from './openai/family.js'
import { flag, readFormFields, requiredField, textOf } from './openai/form-fields.js'
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
  if (stream) throw streamed()
  const out = new Collector(names)
  out.text('user', prompt, '/prompt')
  out.rest('parameter', body, '', requestFields)
  const { parts, joined, media } = out
  const brings = brought(body.response_format)
  return { parts, joined, media, stream: false, model, metadata, session: undefined, brings }
}

/** Without a requested format the model decides which of both comes. */
function brought(responseFormat: unknown): Brought {
  return { kind: 'image', ...(responseFormat === 'url' && { isAddress: true }) }
}

/** A partial picture would be visible before its text is judged. */
function streamed(): Fault {
  return invalid('stream', 'unknown_value', 'Pictures are not streamed here.')
}

const form: FormFiles = { image: 'image', 'image[]': 'image', mask: 'image' }

function readEdit(body: JsonObject): ChatRequest {
  requiredField(body, 'image', 'image[]')
  requiredField(body, 'prompt')
  if (flag(body, 'stream')) throw streamed()
  const out = new Collector(names)
  readFormFields(out, body, form)
  const { parts, joined, media } = out
  const model = textOf(body, 'model')
  const brings = brought(textOf(body, 'response_format'))
  return { parts, joined, media, stream: false, model, metadata: undefined, session: undefined, brings }
}

/** Each picture is media, in base64 or at an address; other fields are read (the prompt as the model rewrote it). */
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

const shared = {
  ...family,
  ...turnless(family),
  id: 'openai-images',
  readReply,
  offender: offenderBy(/^\/prompt$/, names)
} as const satisfies Partial<Dialect>

export const openaiImages: Dialect = {
  ...shared,
  suffix: '/generations',
  paths: ['/v1/images/generations'],
  readRequest
}

export const openaiImageEdits: Dialect = {
  ...shared,
  suffix: '/edits',
  paths: ['/v1/images/edits'],
  form,
  readRequest: readEdit
}
