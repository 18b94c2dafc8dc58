/**
 * Reads items, of which the input of a request and the output of an answer consist. The same shapes stand in both, and
 * in the events of a stream, whole or as they grow; so one reader serves all three and hands each growing text to its
 * `leaf`. Shapes: platform.openai.com/docs/api-reference/responses, the unions ResponseInputItem and
 * ResponseOutputItem.
 */
import type { Json, JsonObject, Role } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import { givenSince } from '../calls.js'
import { readDefinitions } from '../definitions.js'
import { readContent, readPart } from '../openai/content.js'
import { openaiRoles } from '../openai/request.js'
import { isObject, pointerSegment } from '../rewrite.js'
import { tokenTexts } from '../tokens.js'
import { append, type Collector, refuseTwins, roleNamed } from '../walk.js'

export type LeafKind = 'text' | 'arguments'

/** Takes a text that a stream spells out over events. @returns its index in the collector, or -1 */
export type Leaf = (holder: JsonObject, key: string, role: Role, pointer: string, kind: LeafKind) => number

/** The leaf of a whole text, which is judged in place. */
export function wholeLeaf(out: Collector): Leaf {
  return (holder, key, role, pointer, kind) => {
    const text = holder[key] as string
    if (kind === 'text') return out.text(role, text, pointer)
    const index = out.parts.length
    out.embedded(role, text, pointer)
    return text === '' ? -1 : index
  }
}

/** Fields of items that grow in a stream. */
const growing: Readonly<Record<string, LeafKind>> = { arguments: 'arguments', input: 'arguments', code: 'text' }

/** Fields of a call with what its tool is given, where that is no growing text. */
const givenFields = new Set([...Object.keys(growing), 'action', 'actions', 'operation', 'queries'])

/** Fields of an item in which its tool answers. */
const toolFields = new Set(['output', 'outputs', 'error'])

/** Fields by whose names an item is read. */
const itemFields = new Set([
  ...Object.keys(growing),
  ...toolFields,
  'type',
  'role',
  'status',
  'content',
  'summary',
  'tools',
  'results',
  'result',
  'encrypted_content'
])

export interface ItemText {
  role: Role
  /** The texts that a model reads as one. */
  indexes: number[]
}

/**
 * Every leaf and key of an item.
 * @param fallback the role of an item without one
 * @param field names the item in an error; undefined where another shape is read leaf by leaf instead
 * @throws Fault `validation_error`
 */
export function readItem(
  out: Collector,
  item: JsonObject,
  fallback: Role,
  pointer: string,
  field: string | undefined,
  leaf: Leaf = wholeLeaf(out)
): ItemText {
  refuseTwins(item, pointer, itemFields)
  const role = roleOf(item, fallback)
  const indexes: number[] = []
  for (const name of Object.keys(item)) {
    const at = `${pointer}/${pointerSegment(name)}`
    const value = item[name]!
    out.key(role, name, at)
    if (name === 'type' || name === 'role' || name === 'status') readWord(out, value, role, at)
    else if (name === 'content' || name === 'summary') {
      append(indexes, readParts(out, item, name, role, at, field === undefined ? undefined : `${field}.${name}`, leaf))
    } else if (toolFields.has(name)) {
      const ofTool = role === 'assistant' ? 'tool' : role
      const read = isObject(value)
        ? readPart(out, value, ofTool, at)
        : readContent(out, value, ofTool, at, field === undefined ? undefined : `${field}.${name}`)
      if (ofTool === role) append(indexes, read)
      else out.join(read)
    } else if (typeof value === 'string' && Object.hasOwn(growing, name)) {
      indexes.push(leaf(item, name, role, at, growing[name]!))
    } else {
      const before = out.parts.length
      readField(out, item, name, role, at)
      if (role !== 'assistant' || !givenFields.has(name)) continue
      const given = givenSince(out, before)
      out.join(given)
      append(indexes, given)
    }
  }
  return { role, indexes }
}

function readField(out: Collector, item: JsonObject, name: string, role: Role, at: string): void {
  const value = item[name]!
  // Sealed reasoning and compactions, which only OpenAI can read.
  if (name === 'encrypted_content') out.opaque(role, value, at)
  else if (name === 'result' && item.type === 'image_generation_call' && typeof value === 'string') {
    out.mediaObject('image', role, value, at)
  } else if (name === 'tools') readDefinitions(out, value, at)
  else if (name === 'results') {
    // Search results are the words of their sources.
    const before = out.parts.length
    out.walk('tool', value, at)
    out.join(out.since(before))
  } else out.walk(role, value, at)
}

function readWord(out: Collector, value: Json, role: Role, pointer: string): void {
  if (typeof value === 'string') out.word(role, value, pointer)
  else out.walk(role, value, pointer)
}

/** The role of an item: its own, or else that of its type. */
export function roleOf({ type, role }: JsonObject, fallback: Role): Role {
  if (typeof role === 'string') return roleNamed(openaiRoles, role)
  if (typeof type !== 'string') return fallback
  if (type.endsWith('_output')) return 'tool'
  if (type === 'mcp_list_tools') return 'definition'
  if (type === 'mcp_approval_response') return 'user'
  return type.endsWith('_call') || ofModel.has(type) ? 'assistant' : fallback
}

const ofModel = new Set(['reasoning', 'mcp_approval_request', 'compaction'])

/** The parts of a message or a summary. */
function readParts(
  out: Collector,
  item: JsonObject,
  name: string,
  role: Role,
  pointer: string,
  field: string | undefined,
  leaf: Leaf
): number[] {
  const parts = item[name]!
  if (!Array.isArray(parts)) return readContent(out, parts, role, pointer, field)
  const indexes: number[] = []
  for (const [i, part] of parts.entries()) {
    if (isObject(part)) append(indexes, readItemPart(out, part, role, `${pointer}/${i}`, leaf))
    else if (typeof part === 'string') indexes.push(out.text(role, part, `${pointer}/${i}`))
    else if (field === undefined) out.walk(role, part, `${pointer}/${i}`)
    else throw invalid(`${field}.${i}`, 'wrong_type', 'A content part must be an object.')
  }
  return indexes
}

/** The text fields of a part. */
const said = ['text', 'refusal'] as const
const saidTypes = new Set(['output_text', 'refusal', 'summary_text', 'reasoning_text', 'text', 'input_text'])

/** Reads one part; its text may grow in a stream. */
export function readItemPart(out: Collector, part: JsonObject, role: Role, pointer: string, leaf: Leaf): number[] {
  if (typeof part.type !== 'string' || !saidTypes.has(part.type)) return readPart(out, part, role, pointer)
  const indexes: number[] = []
  const taken = new Set<string>()
  for (const name of said) {
    if (typeof part[name] !== 'string') continue
    taken.add(name)
    indexes.push(leaf(part, name, role, `${pointer}/${name}`, 'text'))
  }
  if (Array.isArray(part.logprobs)) {
    taken.add('logprobs')
    for (const text of tokenTexts(part.logprobs, out, role, `${pointer}/logprobs`))
      out.text(role, text, `${pointer}/logprobs`)
  }
  out.rest(role, part, pointer, taken)
  return indexes
}
