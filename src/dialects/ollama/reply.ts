/** Reads answers that are not streamed. */
import type { ChatReply, Json, JsonObject } from '../../base/chat.js'
import { joinMessage } from '../calls.js'
import { readToolCalls } from '../openai-chat/request.js'
import { isObject } from '../rewrite.js'
import { any, type Fields, object, readFields, walked, word, wordsOf } from '../taken.js'
import { tokenTexts } from '../tokens.js'
import { Collector } from '../walk.js'
import { names } from './names.js'

/** Numbers that spell the conversation are given back to the client that holds it anyway. */
const beside: Fields<Collector> = {
  logprobs: any((value, out, { at }) => {
    for (const text of tokenTexts(value, out, 'assistant', at)) out.text('assistant', text, at)
  }),
  images: any((value, out, { at }) => readImages(out, value, at)),
  context: wordsOf('assistant'),
  done_reason: word
}
const messageFields: Fields<Collector> = {
  tool_calls: any((value, out, { at }) => readToolCalls(out, value, 'assistant', at)),
  role: word,
  images: beside.images!
}
const chatFields: Fields<Collector> = {
  message: object((value, out, { at }) => {
    const before = out.parts.length
    readFields(messageFields, value, at, out, walked(out, 'assistant'))
    joinMessage(out, before, at)
  }),
  ...beside
}
const generateFields: Fields<Collector> = {
  thinking: wordsOf('assistant'),
  response: wordsOf('assistant'),
  ...beside
}

export function readChatReply(body: JsonObject): ChatReply | undefined {
  return isObject(body.message) ? read(chatFields, body) : undefined
}

export function readGenerateReply(body: JsonObject): ChatReply | undefined {
  return typeof body.response === 'string' ? read(generateFields, body) : undefined
}

function read(fields: Fields<Collector>, body: JsonObject): ChatReply {
  const out = new Collector(names)
  readFields(fields, body, '', out, walked(out, 'parameter'))
  return out
}

export function readImages(out: Collector, images: Json | undefined, pointer: string): void {
  if (!Array.isArray(images)) out.walk('assistant', images, pointer)
  else for (const [i, image] of images.entries()) out.mediaObject('image', 'assistant', image, `${pointer}/${i}`)
}

/**
 * Drops fields that repeat the original text of a rewritten answer: token probabilities, and the conversation as
 * numbers.
 */
export function forgetTokens(body: JsonObject): void {
  delete body.logprobs
  delete body.context
}

/** Reads vectors of numbers, and the fields beside them. */
export function readVectors(field: 'embedding' | 'embeddings'): (body: JsonObject) => ChatReply | undefined {
  const isVectors = (value: Json | undefined): boolean =>
    Array.isArray(value) ? value.every(isVectors) : typeof value === 'number'
  return (body) => {
    if (!Array.isArray(body[field]) || !isVectors(body[field])) return undefined
    const out = new Collector(names)
    out.rest('parameter', body, '', new Set([field]))
    return out
  }
}
