/** Reads `POST /v1/chat/completions`: every string leaf and key with its role. */
import type { ChatRequest, Json, JsonObject, Role } from '../../chat.js'
import { invalid } from '../../errors.js'
import { readContent } from '../openai/content.js'
import { names } from '../openai/names.js'
import { readOptions, roleNamed } from '../openai/request.js'
import { readTokenFields } from '../openai/token-fields.js'
import { isObject } from '../rewrite.js'
import { Turns } from '../turns.js'
import { Collector } from '../walk.js'

const messageFields = new Set(['role', 'content', 'tool_calls', 'function_call'])
const audioMessageFields = new Set([...messageFields, 'audio'])
const bodyFields = new Set(['messages', 'tools', 'functions', 'response_format'])

export function readRequest(body: JsonObject): ChatRequest {
  const { messages } = body
  if (messages === undefined) throw invalid('messages', 'missing', 'The field messages is required.')
  if (!Array.isArray(messages)) throw invalid('messages', 'wrong_type', 'The field messages must be an array.')
  if (messages.length === 0) throw invalid('messages', 'empty', 'The field messages must not be empty.')
  const options = readOptions(body)

  const out = new Collector(names)
  readMessages(out, messages)
  out.walk('definition', body.tools, '/tools')
  out.walk('definition', body.functions, '/functions')
  out.walk('definition', body.response_format, '/response_format')
  readTokenFields(out, body)
  out.rest('parameter', body, '', bodyFields)
  return { ...options, parts: out.parts, joined: out.joined, media: out.media, session: undefined }
}

function readMessages(out: Collector, messages: readonly Json[]): void {
  const turns = new Turns(out)
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]
    if (!isObject(message)) throw invalid(`messages.${i}`, 'wrong_type', 'A message must be an object.')
    if (message.role === undefined) throw invalid(`messages.${i}.role`, 'missing', 'A message must have a role.')
    if (typeof message.role !== 'string') throw invalid(`messages.${i}.role`, 'wrong_type', 'role must be a string.')
    const role = roleNamed(message.role)
    out.word('parameter', message.role, `/messages/${i}/role`)
    turns.add(role, readMessage(out, message, role, `/messages/${i}`, `messages.${i}`))
  }
  turns.end()
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
