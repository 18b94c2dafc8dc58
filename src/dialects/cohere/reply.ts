/** Reads an answer that is not streamed: its content, thoughts, plan, calls, citations, and every other leaf. */
import type { ChatReply, Json, JsonObject } from '../../base/chat.js'
import { joinMessage } from '../calls.js'
import { readToolCalls } from '../openai-chat/request.js'
import { isObject } from '../rewrite.js'
import { any, type Fields, object, readFields, walked, word } from '../taken.js'
import { Collector } from '../walk.js'
import { names } from './names.js'

const messageFields: Fields<Collector> = {
  tool_calls: any((value, out, { at }) => readToolCalls(out, value, 'assistant', at)),
  role: word
}
const fields: Fields<Collector> = {
  message: object((value, out, { at }) => {
    const before = out.parts.length
    readFields(messageFields, value, at, out, walked(out, 'assistant'))
    joinMessage(out, before, at)
  }),
  logprobs: any((value, out, { at }) => {
    const text = tokenText(value, out, at)
    if (text !== '') out.text('assistant', text, at)
  }),
  finish_reason: word
}

export function readReply(body: JsonObject): ChatReply | undefined {
  if (!isObject(body.message)) return undefined
  const out = new Collector(names)
  readFields(fields, body, '', out, walked(out, 'parameter'))
  return out
}

const tokenFields = new Set(['text'])

/**
 * Token probabilities repeat the answer piece by piece, each under `text`.
 * @param out receives everything else
 * @returns the text of the tokens
 */
export function tokenText(value: Json | undefined, out: Collector, pointer: string): string {
  if (Array.isArray(value)) return value.map((each, i) => tokenText(each, out, `${pointer}/${i}`)).join('')
  if (!isObject(value) || typeof value.text !== 'string') {
    out.walk('assistant', value, pointer)
    return ''
  }
  out.rest('assistant', value, pointer, tokenFields)
  return value.text
}

/** Drops fields that repeat the original text of a rewritten answer. */
export function forgetTokens(body: JsonObject): void {
  delete body.logprobs
}
