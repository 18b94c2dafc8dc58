/** Reads a response: its output items, and the fields of the request that it repeats. */
import type { ChatReply, JsonObject, Role } from '../../base/chat.js'
import { names } from '../openai/names.js'
import { isObject } from '../rewrite.js'
import { Turns } from '../turns.js'
import { Collector } from '../walk.js'
import { type Leaf, readItem } from './items.js'

const echoed: Readonly<Record<string, Role>> = { tools: 'definition', text: 'definition', error: 'assistant' }
const bodyFields = new Set(['output', 'instructions', ...Object.keys(echoed)])

export function readReply(body: JsonObject): ChatReply | undefined {
  if (!Array.isArray(body.output) || !body.output.every(isObject)) return undefined
  const out = new Collector(names)
  readResponse(out, body)
  return typeof body.id === 'string' ? Object.assign(out, { id: body.id }) : out
}

/**
 * The response object, of an answer or of an event of a stream.
 * @param leaf takes the texts of the output that grow
 */
export function readResponse(out: Collector, body: JsonObject, leaf?: Leaf): void {
  const turns = new Turns(out)
  if (Array.isArray(body.output)) {
    for (const [i, item] of body.output.entries()) {
      if (!isObject(item)) out.walk('assistant', item, `/output/${i}`)
      else {
        const { role, indexes } = readItem(out, item, 'assistant', `/output/${i}`, undefined, leaf)
        if (leaf === undefined) turns.add(role, indexes)
      }
    }
  } else out.walk('assistant', body.output, '/output')
  turns.end()
  if (Array.isArray(body.instructions)) {
    for (const [i, item] of body.instructions.entries()) {
      if (isObject(item)) readItem(out, item, 'system', `/instructions/${i}`, undefined)
      else out.walk('system', item, `/instructions/${i}`)
    }
  } else out.walk('system', body.instructions, '/instructions')
  for (const [name, role] of Object.entries(echoed)) out.walk(role, body[name], `/${name}`)
  out.rest('parameter', body, '', bodyFields)
}

/** Drops fields that repeat the original text of a rewritten answer. */
export function forgetTokens(body: JsonObject): void {
  if (!Array.isArray(body.output)) return
  for (const item of body.output) if (isObject(item)) forgetItemTokens(item)
}

export function forgetItemTokens({ content }: JsonObject): void {
  if (!Array.isArray(content)) return
  for (const part of content) if (isObject(part) && part.logprobs !== undefined) part.logprobs = []
}
