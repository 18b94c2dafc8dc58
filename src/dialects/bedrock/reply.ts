/** Reads answers of Converse: the message, what the model adds to it, and what a guardrail of AWS says of it. */
import type { ChatReply, JsonObject } from '../../base/chat.js'
import { isObject } from '../rewrite.js'
import { type Fields, object, readFields, walked, word, wordsOf } from '../taken.js'
import { Collector } from '../walk.js'
import { readContent } from './blocks.js'
import { names } from './names.js'

const messageFields: Fields<Collector> = {
  role: word,
  content: (value, out, { at }) => {
    if (!Array.isArray(value) || !value.every(isObject)) return false
    out.join(readContent(out, value, 'assistant', at, 'content'))
    return true
  }
}
const outputFields: Fields<Collector> = {
  message: object((value, out, { at }) => readFields(messageFields, value, at, out, walked(out, 'assistant')))
}

/** Fields of an answer, and of the last events of a stream, besides the content. */
export const endFields: Fields<Collector> = {
  stopReason: word,
  additionalModelResponseFields: wordsOf('assistant'),
  // The model's words and the user's, as a guardrail has seen them.
  trace: wordsOf('assistant')
}
const bodyFields: Fields<Collector> = {
  output: object((value, out, { at }) => readFields(outputFields, value, at, out, walked(out, 'assistant'))),
  ...endFields
}

export function readReply(body: JsonObject): ChatReply | undefined {
  const { output, stopReason } = body
  if (!isObject(output) || !isObject(output.message) || typeof stopReason !== 'string') return undefined
  if (!Array.isArray(output.message.content)) return undefined
  const out = new Collector(names)
  readFields(bodyFields, body, '', out, walked(out, 'parameter'))
  return out
}
