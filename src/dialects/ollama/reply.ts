/** Reads answers that are not streamed. */
import type { ChatReply, Json, JsonObject } from '../../chat.js'
import { tokenTexts } from '../openai/tokens.js'
import { isObject } from '../rewrite.js'
import { Collector } from '../walk.js'
import { names } from './names.js'

/** Numbers that spell the conversation are given back to the client that holds it anyway. */
const beside = ['logprobs', 'context', 'images']
const chatFields = new Set(['message', ...beside])
const generateFields = new Set(['response', 'thinking', ...beside])
const messageFields = new Set(['role', 'images'])

export function readChatReply(body: JsonObject): ChatReply | undefined {
  if (!isObject(body.message)) return undefined
  const out = new Collector(names)
  const { role } = body.message
  if (typeof role === 'string') out.word('assistant', role, '/message/role')
  else out.walk('assistant', role, '/message/role')
  readImages(out, body.message.images, '/message/images')
  out.rest('assistant', body.message, '/message', messageFields)
  readBeside(out, body, chatFields)
  return out
}

export function readGenerateReply(body: JsonObject): ChatReply | undefined {
  if (typeof body.response !== 'string') return undefined
  const out = new Collector(names)
  for (const name of ['thinking', 'response']) out.walk('assistant', body[name], `/${name}`)
  readBeside(out, body, generateFields)
  return out
}

function readBeside(out: Collector, body: JsonObject, taken: ReadonlySet<string>): void {
  for (const text of tokenTexts(body.logprobs)) out.text('assistant', text, '/logprobs')
  readImages(out, body.images, '/images')
  out.walk('assistant', body.context, '/context')
  if (typeof body.done_reason === 'string') out.word('assistant', body.done_reason, '/done_reason')
  out.rest('parameter', body, '', new Set([...taken, 'done_reason']))
}

export function readImages(out: Collector, images: Json | undefined, pointer: string): void {
  if (!Array.isArray(images)) out.walk('assistant', images, pointer)
  else for (const [i, image] of images.entries()) out.mediaObject('image', 'assistant', image, `${pointer}/${i}`)
}

/** Drops what repeats the former text of a rewritten answer: token probabilities, and the conversation as numbers. */
export function forgetTokens(body: JsonObject): void {
  delete body.logprobs
  delete body.context
}

/** Vectors of numbers, and what stands beside them. */
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
