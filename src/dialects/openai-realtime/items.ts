/**
 * Items and their parts: what a conversation consists of, in the events of both sides.
 * Shapes: platform.openai.com/docs/api-reference/realtime, ConversationItem.
 */
import type { Json, JsonObject, Role } from '../../base/chat.js'
import { type ItemText, type Leaf, roleOf, wholeLeaf } from '../openai-responses/items.js'
import { isObject, pointerSegment } from '../rewrite.js'
import { append, type Collector, refuseTwins } from '../walk.js'

const words = new Set(['type', 'role', 'status', 'object'])
/** Fields of an item in which its tool answers. */
const toolFields = new Set(['output', 'error'])

const itemFields = new Set([...words, ...toolFields, 'id', 'content', 'arguments', 'tools', 'name', 'call_id'])

/**
 * Every leaf and key of an item. Names of items and calls are parameters, so that they do not separate the texts of two
 * turns.
 * @param fallback the role of an item without one
 */
export function readItem(
  out: Collector,
  item: JsonObject,
  fallback: Role,
  pointer: string,
  leaf: Leaf = wholeLeaf(out)
): ItemText {
  refuseTwins(item, pointer, itemFields)
  const role = roleOf(item, fallback)
  const indexes: number[] = []
  for (const name of Object.keys(item)) {
    const at = `${pointer}/${pointerSegment(name)}`
    const value = item[name]!
    out.key(role, name, at)
    if (words.has(name) && typeof value === 'string') out.word(role, value, at)
    else if (name === 'content' && Array.isArray(value)) {
      for (const [i, part] of value.entries()) append(indexes, readPart(out, part, role, `${at}/${i}`, leaf))
    } else if (name === 'arguments' && typeof value === 'string') {
      indexes.push(leaf(item, name, role, at, 'arguments'))
    } else if (toolFields.has(name)) {
      append(indexes, readOutput(out, value, role === 'assistant' ? 'tool' : role, at))
    } else out.walk(name === 'tools' ? 'definition' : 'parameter', value, at)
  }
  return { role, indexes }
}

/** The result of a tool, usually JSON in a string. */
function readOutput(out: Collector, value: Json, role: Role, pointer: string): number[] {
  const first = out.parts.length
  if (typeof value === 'string') out.embedded(role, value, pointer)
  else out.walk(role, value, pointer)
  return out.parts.length === first ? [] : [first]
}

const said = new Set(['text', 'transcript', 'refusal'])

const partFields = new Set([...said, 'type', 'audio', 'image_url'])

/** One part of a message: its text, or its sound or picture with the text that belongs to it. */
export function readPart(out: Collector, part: Json, role: Role, pointer: string, leaf: Leaf): number[] {
  if (!isObject(part)) {
    out.walk(role, part, pointer)
    return []
  }
  refuseTwins(part, pointer, partFields)
  const indexes: number[] = []
  for (const name of Object.keys(part)) {
    const at = `${pointer}/${pointerSegment(name)}`
    const value = part[name]!
    out.key(role, name, at)
    if (name === 'type' && typeof value === 'string') out.word(role, value, at)
    else if (said.has(name) && typeof value === 'string') indexes.push(leaf(part, name, role, at, 'text'))
    else if (name === 'audio') readMedia(out, 'audio', role, value, at)
    else if (name === 'image_url') readMedia(out, 'image', role, value, at)
    else out.walk('parameter', value, at)
  }
  return indexes
}

/** An empty or absent medium is none. */
export function readMedia(
  out: Collector,
  kind: 'audio' | 'image',
  role: Role,
  value: Json | undefined,
  pointer: string
): void {
  if (value !== undefined && value !== null && value !== '') out.mediaObject(kind, role, value, pointer)
}
