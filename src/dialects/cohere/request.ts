/** Reads `POST /v2/chat`: every string leaf and key with its role. */
import type { ChatRequest, Json, JsonObject, Role } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import { readDefinitions } from '../definitions.js'
import { booleanField, requiredList, stringField } from '../fields.js'
import { readToolCalls } from '../openai-chat/request.js'
import { isObject } from '../rewrite.js'
import { Turns } from '../turns.js'
import { append, Collector, lastSegment } from '../walk.js'
import { names } from './names.js'

const roleOf: Readonly<Record<string, Role>> = { system: 'system', user: 'user', assistant: 'assistant', tool: 'tool' }

/** Tool definitions, and the schema of the answer. */
const definitions = ['tools', 'response_format'] as const
const bodyFields = new Set<string>(['messages', 'documents', ...definitions])
const messageFields = new Set(['role', 'content', 'tool_calls'])
const noFields: ReadonlySet<string> = new Set()

export function readRequest(body: JsonObject): ChatRequest {
  const messages = requiredList(body, 'messages')
  const model = stringField(body, 'model')
  // A backend that coerces "true" would stream what was read here as not streamed.
  const stream = booleanField(body, 'stream') ?? false
  const out = new Collector(names)
  const turns = new Turns(out)
  const found = readDocuments(out, body.documents, '/documents')
  if (found.length > 0) turns.add('tool', found)
  const said = messages.map((message, i) => readMessage(out, turns, message, i))
  turns.end()
  if (found.length > 0) joinDocuments(out, found, messages, said)
  for (const name of definitions) readDefinitions(out, body[name], `/${name}`)
  out.rest('parameter', body, '', bodyFields)
  const { parts, joined, media } = out
  return { parts, joined, media, stream, model, metadata: undefined, session: undefined }
}

/** Texts or objects: always the words of others. */
function readDocuments(out: Collector, value: Json | undefined, pointer: string): number[] {
  const before = out.parts.length
  out.walk('tool', value, pointer)
  return out.since(before)
}

/**
 * Joins documents with the user's first and last message, since models place them behind one of those.
 * @param said the texts of each message
 */
function joinDocuments(
  out: Collector,
  found: readonly number[],
  messages: readonly JsonObject[],
  said: readonly (readonly number[])[]
): void {
  const first = messages.findIndex(({ role }) => role === 'user')
  if (first !== -1) out.join([...said[first]!, ...found, ...(said[first + 1] ?? [])])
  out.join([...said.at(-1)!, ...found])
}

/** @returns indexes of the texts that a model reads one after the other */
function readMessage(out: Collector, turns: Turns, message: JsonObject, i: number): readonly number[] {
  const field = `messages.${i}`
  const pointer = `/messages/${i}`
  const role = out.messageRole(roleOf, message, i)
  const indexes = readContent(out, message.content, role, `${pointer}/content`, `${field}.content`)
  turns.addMixed(role, indexes)
  const before = out.parts.length
  readToolCalls(out, message.tool_calls, role, `${pointer}/tool_calls`)
  out.rest(role, message, pointer, messageFields)
  // Its plan, and what it calls.
  const beside = out.since(before, (part) => besideContent.has(lastSegment(part.pointer)))
  if (beside.length > 0) out.join(indexes.concat(beside))
  return indexes
}

const besideContent = new Set(['tool_plan', 'name', 'arguments'])

/** @returns indexes of the texts that a model reads one after the other */
function readContent(out: Collector, content: Json | undefined, role: Role, pointer: string, field: string): number[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [out.text(role, content, pointer)]
  if (!Array.isArray(content)) throw invalid(field, 'wrong_type', `${field} must be a string or an array of blocks.`)
  const indexes: number[] = []
  for (let i = 0; i < content.length; i++) {
    const block = content[i]
    if (!isObject(block)) throw invalid(`${field}.${i}`, 'wrong_type', 'A content block must be an object.')
    append(indexes, readBlock(out, block, role, `${pointer}/${i}`))
  }
  return indexes
}

function readBlock(out: Collector, block: JsonObject, role: Role, pointer: string): number[] {
  if (isImage(block)) {
    out.mediaObject('image', role, block, pointer)
    return []
  }
  const before = out.parts.length
  out.rest(block.type === 'document' ? 'tool' : role, block, pointer, noFields)
  return out.since(before)
}

/** A block of another type stays text even where it carries a field of this name: all of it is read. */
function isImage(block: JsonObject): boolean {
  return typeof block.type === 'string' ? block.type === 'image_url' : block.image_url !== undefined
}
