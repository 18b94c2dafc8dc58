/** Reads `POST /v1/chat/completions`: every string leaf and key with its role. */
import type { ChatRequest, Json, JsonObject, Media, Role } from '../../chat.js'
import { invalid } from '../../errors.js'
import { isObject } from '../rewrite.js'
import { Collector } from '../walk.js'
import { names } from './names.js'

const roleOf: Readonly<Record<string, Role>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool'
}

/** Fields of a content part that hold media, by the part's type or by their mere presence. */
const mediaFields: Readonly<Record<string, Media['kind']>> = {
  image_url: 'image',
  image: 'image',
  input_image: 'image',
  input_audio: 'audio',
  audio: 'audio',
  audio_url: 'audio',
  video: 'video',
  video_url: 'video',
  input_video: 'video',
  file: 'file',
  input_file: 'file',
  file_id: 'file',
  file_data: 'file',
  document: 'file'
}

const textTypes = new Set(['text', 'refusal', 'input_text', 'output_text'])
const messageFields = new Set(['role', 'content', 'tool_calls', 'function_call'])
const audioMessageFields = new Set([...messageFields, 'audio'])
const bodyFields = new Set(['messages', 'tools', 'functions', 'response_format'])

export function readRequest(body: JsonObject): ChatRequest {
  const { messages, model, stream, metadata } = body
  if (messages === undefined) throw invalid('messages', 'missing', 'The field messages is required.')
  if (!Array.isArray(messages)) throw invalid('messages', 'wrong_type', 'The field messages must be an array.')
  if (messages.length === 0) throw invalid('messages', 'empty', 'The field messages must not be empty.')
  if (model !== undefined && typeof model !== 'string') throw invalid('model', 'wrong_type', 'model must be a string.')
  // A backend that coerces "true" would stream what was read here as not streamed.
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean') {
    throw invalid('stream', 'wrong_type', 'stream must be a boolean.')
  }
  if (metadata !== undefined && metadata !== null && !isObject(metadata)) {
    throw invalid('metadata', 'wrong_type', 'metadata must be an object.')
  }

  const out = new Collector(names)
  readMessages(out, messages)
  out.walk('definition', body.tools, '/tools')
  out.walk('definition', body.functions, '/functions')
  out.walk('definition', body.response_format, '/response_format')
  out.rest('parameter', body, '', bodyFields)
  return {
    parts: out.parts,
    joined: out.joined,
    media: out.media,
    stream: stream === true,
    model,
    metadata: isObject(metadata) ? metadata : undefined,
    session: undefined
  }
}

function readMessages(out: Collector, messages: readonly Json[]): void {
  const ofUser: number[] = []
  let run: number[] = []
  let runRole: Role | undefined
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]
    if (!isObject(message)) throw invalid(`messages.${i}`, 'wrong_type', 'A message must be an object.')
    if (message.role === undefined) throw invalid(`messages.${i}.role`, 'missing', 'A message must have a role.')
    if (typeof message.role !== 'string') throw invalid(`messages.${i}.role`, 'wrong_type', 'role must be a string.')
    // A role this API does not know is judged as the caller's own words, and as a text itself.
    const role = Object.hasOwn(roleOf, message.role) ? roleOf[message.role]! : 'user'
    out.word('parameter', message.role, `/messages/${i}/role`)
    const indexes = readMessage(out, message, role, `/messages/${i}`, `messages.${i}`)
    out.join(indexes)
    if (role !== runRole) {
      out.join(run)
      run = []
      runRole = role
    }
    run.push(...indexes)
    if (role === 'user') ofUser.push(...indexes)
  }
  out.join(run)
  out.join(ofUser)
}

/** @returns indexes of the message's own texts */
function readMessage(out: Collector, message: JsonObject, role: Role, pointer: string, field: string): number[] {
  const indexes = readContent(out, message.content, role, `${pointer}/content`, `${field}.content`)
  readCalls(out, message, role, pointer)
  const reference = message.audio
  if (isObject(reference)) out.mediaObject('audio', role, reference, `${pointer}/audio`)
  out.rest(role, message, pointer, isObject(reference) ? audioMessageFields : messageFields)
  return indexes
}

const noFields: ReadonlySet<string> = new Set()

function readContent(out: Collector, content: Json | undefined, role: Role, pointer: string, field: string): number[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [out.text(role, content, pointer)]
  if (!Array.isArray(content)) throw invalid(field, 'wrong_type', 'content must be a string or an array of parts.')
  const indexes: number[] = []
  for (let i = 0; i < content.length; i++) {
    const part = content[i]
    const at = `${pointer}/${i}`
    if (typeof part === 'string') {
      indexes.push(out.text(role, part, at))
    } else if (isObject(part)) {
      indexes.push(...readPart(out, part, role, at))
    } else {
      throw invalid(`${field}.${i}`, 'wrong_type', 'A content part must be an object.')
    }
  }
  return indexes
}

function readPart(out: Collector, part: JsonObject, role: Role, pointer: string): number[] {
  const kind = mediaKind(part)
  if (kind !== undefined) {
    out.mediaObject(kind, role, part, pointer)
    return []
  }
  const before = out.parts.length
  out.rest(role, part, pointer, noFields)
  return out.parts.flatMap(({ isKey }, index) => (index >= before && !isKey ? [index] : []))
}

function mediaKind(part: JsonObject): Media['kind'] | undefined {
  if (typeof part.type === 'string') {
    if (Object.hasOwn(mediaFields, part.type)) return mediaFields[part.type]
    // A text part stays text even where it carries a field of this name: all of it is read.
    if (textTypes.has(part.type)) return undefined
  }
  for (const name of Object.keys(part)) {
    if (Object.hasOwn(mediaFields, name)) return mediaFields[name]
  }
  return undefined
}

/** Tool calls and the legacy function call: names, and arguments as written and as decoded. */
export function readCalls(out: Collector, message: JsonObject, role: Role, pointer: string): void {
  const { tool_calls: calls, function_call: call } = message
  if (Array.isArray(calls)) {
    for (let i = 0; i < calls.length; i++) readCall(out, calls[i], role, `${pointer}/tool_calls/${i}`)
  } else if (calls !== undefined) {
    out.walk(role, calls, `${pointer}/tool_calls`)
  }
  if (call !== undefined) readFunction(out, call, role, `${pointer}/function_call`)
}

function readCall(out: Collector, call: Json | undefined, role: Role, pointer: string): void {
  if (!isObject(call)) {
    out.walk(role, call, pointer)
    return
  }
  if (call.function !== undefined) readFunction(out, call.function, role, `${pointer}/function`)
  out.rest(role, call, pointer, callFields)
}

function readFunction(out: Collector, call: Json, role: Role, pointer: string): void {
  if (!isObject(call)) {
    out.walk(role, call, pointer)
    return
  }
  if (typeof call.arguments === 'string') out.embedded(role, call.arguments, `${pointer}/arguments`)
  else out.walk(role, call.arguments, `${pointer}/arguments`)
  out.rest(role, call, pointer, functionFields)
}

const callFields = new Set(['function'])
const functionFields = new Set(['arguments'])
