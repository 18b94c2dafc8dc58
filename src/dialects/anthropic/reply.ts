/** Reads answers that are not streamed. */
import type { ChatReply, JsonObject } from '../../base/chat.js'
import { isObject } from '../rewrite.js'
import { type Fields, readFields, walked, word, wordsOf } from '../taken.js'
import { Collector } from '../walk.js'
import { readContent } from './blocks.js'
import { names } from './names.js'

const fields: Fields<Collector> = { role: word, stop_reason: word, stop_details: wordsOf('assistant') }
/** Blocks that were read already. */
const wholeFields: Fields<Collector> = { ...fields, content: (value) => Array.isArray(value) }
const begunFields: Fields<Collector> = { ...fields, content: wordsOf('assistant') }

/** A message: all blocks, and what else it says. */
export function readReply(body: JsonObject): ChatReply | undefined {
  const { type, content } = body
  if (type !== 'message' || !Array.isArray(content) || !content.every(isObject)) return undefined
  const out = new Collector(names)
  out.join(readContent(out, content, 'assistant', '/content', 'content'))
  readFields(wholeFields, body, '', out, walked(out, 'parameter'))
  return typeof body.id === 'string' ? Object.assign(out, { id: body.id }) : out
}

/** A message as a stream begins and ends it: what it says comes in between. */
export function readMessage(out: Collector, message: JsonObject): void {
  readFields(begunFields, message, '', out, walked(out, 'parameter'))
}
