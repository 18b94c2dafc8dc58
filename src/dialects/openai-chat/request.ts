/** Reads `POST /v1/chat/completions`: every string leaf and key with its role. */
import type { ChatRequest, Json, JsonObject, Role } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import { joinCallRead } from '../calls.js'
import { readDefinitions } from '../definitions.js'
import { readContent } from '../openai/content.js'
import { names } from '../openai/names.js'
import { openaiRoles, readOptions } from '../openai/request.js'
import { readTokenFields } from '../openai/token-fields.js'
import { isObject } from '../rewrite.js'
import { Turns } from '../turns.js'
import { Collector, lastSegment } from '../walk.js'

const messageFields = new Set(['role', 'content', 'tool_calls', 'function_call'])
const audioMessageFields = new Set([...messageFields, 'audio'])
const bodyFields = new Set(['messages', 'tools', 'functions', 'response_format', 'prediction'])

export function readRequest(body: JsonObject): ChatRequest {
  const { messages } = body
  if (messages === undefined) throw invalid('messages', 'missing', 'The field messages is required.')
  if (!Array.isArray(messages)) throw invalid('messages', 'wrong_type', 'The field messages must be an array.')
  if (messages.length === 0) throw invalid('messages', 'empty', 'The field messages must not be empty.')
  const { model, stream, metadata } = readOptions(body)
  if (body.chat_template !== undefined && body.chat_template !== null) {
    const why = 'chat_template is not accepted: a template can put together words that stand nowhere in the request.'
    throw invalid('chat_template', 'unknown_field', why)
  }

  const out = new Collector(names)
  readMessages(out, messages)
  readDefinitions(out, body.tools, '/tools')
  readDefinitions(out, body.functions, '/functions')
  readDefinitions(out, body.response_format, '/response_format')
  readPrediction(out, body.prediction)
  readTokenFields(out, body)
  out.rest('parameter', body, '', bodyFields)
  // Field by field: to spread the options took half of the reading of a short chat.
  return { model, stream, metadata, parts: out.parts, joined: out.joined, media: out.media, session: undefined }
}

/** What the answer is expected to say: a text, or parts that are read as one. */
function readPrediction(out: Collector, prediction: Json | undefined): void {
  if (!isObject(prediction)) {
    out.walk('parameter', prediction, '/prediction')
    return
  }
  out.join(readContent(out, prediction.content, 'parameter', '/prediction/content', undefined))
  out.rest('parameter', prediction, '/prediction', contentField)
}

const contentField = new Set(['content'])

function readMessages(out: Collector, messages: readonly Json[]): void {
  const turns = new Turns(out)
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]
    if (!isObject(message)) throw invalid(`messages.${i}`, 'wrong_type', 'A message must be an object.')
    const role = out.messageRole(openaiRoles, message, i)
    turns.add(role, readMessage(out, message, role, `/messages/${i}`, `messages.${i}`))
  }
  turns.end()
}

/** @returns indexes of the message's own texts */
function readMessage(out: Collector, message: JsonObject, role: Role, pointer: string, field: string): number[] {
  const indexes = readContent(out, message.content, role, `${pointer}/content`, `${field}.content`)
  const before = out.parts.length
  readCalls(out, message, role, pointer)
  const reference = message.audio
  if (isObject(reference)) out.mediaObject('audio', role, reference, `${pointer}/audio`)
  out.rest(role, message, pointer, isObject(reference) ? audioMessageFields : messageFields)
  joinBeside(out, before, indexes, `${pointer}/name`)
  return indexes
}

/** Joins the texts that a model reads before a message's own texts (the speaker's name) and after them (its calls). */
function joinBeside(out: Collector, before: number, indexes: readonly number[], name: string): void {
  const speaker: number[] = []
  const called: number[] = []
  for (const index of out.since(before, ({ pointer }) => beside.has(lastSegment(pointer)))) {
    if (out.parts[index]!.pointer === name) speaker.push(index)
    else called.push(index)
  }
  if (speaker.length + called.length > 0) out.join(speaker.concat(indexes, called))
}

/** Arguments are read as they are written: what is decoded from them says the same once more. */
const beside = new Set(['name', 'arguments', 'input', 'refusal', 'reasoning', 'reasoning_content'])

/** Tool calls and the legacy function call: names, and arguments as written and as decoded. */
function readCalls(out: Collector, message: JsonObject, role: Role, pointer: string): void {
  const { tool_calls: calls, function_call: call } = message
  readToolCalls(out, calls, role, `${pointer}/tool_calls`)
  if (call !== undefined) readFunction(out, call, role, `${pointer}/function_call`)
}

export function readToolCalls(out: Collector, calls: Json | undefined, role: Role, pointer: string): void {
  if (!Array.isArray(calls)) out.walk(role, calls, pointer)
  else for (let i = 0; i < calls.length; i++) readCall(out, calls[i], role, `${pointer}/${i}`)
}

function readCall(out: Collector, call: Json | undefined, role: Role, pointer: string): void {
  if (!isObject(call)) {
    out.walk(role, call, pointer)
    return
  }
  if (call.function !== undefined) readFunction(out, call.function, role, `${pointer}/function`)
  out.rest(role, call, pointer, callFields)
}

export function readFunction(out: Collector, call: Json, role: Role, pointer: string): void {
  if (!isObject(call)) {
    out.walk(role, call, pointer)
    return
  }
  const before = out.parts.length
  if (typeof call.arguments === 'string') out.embedded(role, call.arguments, `${pointer}/arguments`)
  else out.walk(role, call.arguments, `${pointer}/arguments`)
  out.rest(role, call, pointer, functionFields)
  if (isObject(call.arguments)) joinCallRead(out, before, pointer, 'arguments')
}

const callFields = new Set(['function'])
const functionFields = new Set(['arguments'])
