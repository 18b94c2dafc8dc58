/** Reads an answer that is not streamed: all choices, tool calls, reasoning, refusals, and every other leaf. */
import type { ChatReply, JsonObject } from '../../base/chat.js'
import { joinMessage } from '../calls.js'
import { choiceFields } from '../openai/choices.js'
import { names } from '../openai/names.js'
import { isObject } from '../rewrite.js'
import { any, type Fields, object, readFields, walked, word } from '../taken.js'
import { Collector } from '../walk.js'
import { readFunction, readToolCalls } from './request.js'

const bodyFields = new Set(['choices'])

const messageFields: Fields<Collector> = {
  tool_calls: any((value, out, { at }) => readToolCalls(out, value, 'assistant', at)),
  function_call: any((value, out, { at }) => readFunction(out, value, 'assistant', at)),
  role: word,
  audio: object((value, out, { at }) => out.mediaObject('audio', 'assistant', value, at))
}

const fields: Fields<Collector> = {
  message: object((message, out, { at }) => {
    const before = out.parts.length
    readFields(messageFields, message, at, out, walked(out, 'assistant'))
    joinMessage(out, before, at)
  }),
  ...choiceFields
}

export function readReply(body: JsonObject): ChatReply | undefined {
  if (!Array.isArray(body.choices)) return undefined
  const out = new Collector(names)
  for (const [i, choice] of body.choices.entries()) {
    if (!isObject(choice)) return undefined
    readFields(fields, choice, `/choices/${i}`, out, walked(out, 'assistant'))
  }
  out.rest('parameter', body, '', bodyFields)
  return out
}
