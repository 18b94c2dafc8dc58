/**
 * Assigns roles to the texts of a message. A client's call of a tool is the model's output. A server's texts,
 * definitions included, are a tool's words: a third party wrote them, and a model reads them.
 */
import type { ChatContent, ChatRequest, Json, JsonObject, Role } from '../../base/chat.js'
import { isObject, pointerSegment } from '../rewrite.js'
import { Collector, lastSegment } from '../walk.js'
import type { Message } from './message.js'
import { names } from './names.js'

/**
 * Methods whose texts people type, with the field that only names the target and is not joined with their words. All
 * other requests of clients come from a model.
 */
const typed: Readonly<Record<string, string>> = { 'prompts/get': 'name', 'completion/complete': 'ref' }
/** Methods in which clients describe themselves and their subscriptions. */
const settings = new Set(['initialize', 'server/discover', 'logging/setLevel', 'subscriptions/listen'])

/** Reads a client's message, and the index of the first part with a model's words. */
export function readFromClient(message: Message): ChatContent & Pick<ChatRequest, 'calledFrom'> {
  const out = new Collector(names)
  const saidBy = (role: Role, calledFrom: number) =>
    role === 'assistant' ? { parts: out.parts, joined: out.joined, media: out.media, calledFrom } : out
  if (message.kind === 'response') {
    // The answer to a sampling is a model's; that to an elicitation is a person's.
    const role: Role = message.result?.action === undefined ? 'assistant' : 'user'
    readBlocks(out, message.body, '', role, new Set(['jsonrpc', 'method']))
    return saidBy(role, 0)
  }
  const { method, params } = message
  if (typeof message.id === 'string') out.text('parameter', message.id, '/id')
  const what = Object.hasOwn(typed, method) ? typed[method] : undefined
  const role = what !== undefined ? 'user' : settings.has(method) ? 'parameter' : 'assistant'
  const before = out.parts.length
  const { _meta, ...rest } = params
  // The tool's name comes first, since between two halves of a text it would separate them.
  const isCall = method === 'tools/call' && Object.hasOwn(rest, 'name')
  if (isCall) out.field(role, 'name', rest.name, '/params/name')
  const calledFrom = out.parts.length
  for (const name of Object.keys(rest)) {
    if (isCall && name === 'name') continue
    const at = `/params/${pointerSegment(name)}`
    if (name === 'requestState' && typeof rest[name] === 'string') out.opaque('parameter', rest[name], at)
    else out.field(name === what ? 'parameter' : role, name, rest[name], at)
  }
  // A payload may be cut over the arguments of one call.
  if (role !== 'parameter') out.join(out.since(before))
  out.walk('parameter', _meta, '/params/_meta')
  return saidBy(role, calledFrom)
}

/** Reads a message of a server. */
export function readFromServer({ body }: Pick<Message, 'body'>): ChatContent {
  const out = new Collector(names)
  readBlocks(out, body, '', 'tool', new Set(['jsonrpc', 'method']))
  return out
}

/** Fields of prose in a definition, whose texts are joined. */
const prose = new Set(['description', 'title', '$comment'])
const sentence = /\S\s+\S+\s+\S/

/**
 * Reads one definition: a tool, a prompt, a resource, a template. Sentences in it are a tool's words in every field (an
 * `enum` or a `default` can carry orders too); names and short values are part of the definition.
 */
export function readDefinition(out: Collector, value: Json | undefined, pointer: string): void {
  const before = out.parts.length
  walkDefinition(out, value, pointer, false, 0)
  if (out.parts.length - before < 2) return
  out.join(out.since(before))
  out.join(out.since(before, (part) => prose.has(lastSegment(part.pointer))))
  out.join(out.keysSince(before))
}

function walkDefinition(
  out: Collector,
  value: Json | undefined,
  pointer: string,
  speaks: boolean,
  depth: number
): void {
  const roleOf = (text: string): Role => (speaks || sentence.test(text) ? 'tool' : 'definition')
  if (typeof value === 'string') out.walk(roleOf(value), value, pointer)
  else if (Array.isArray(value) && depth < deepest) {
    for (let i = 0; i < value.length; i++) walkDefinition(out, value[i], `${pointer}/${i}`, speaks, depth + 1)
  } else if (isObject(value) && depth < deepest) {
    for (const name of Object.keys(value)) {
      const at = `${pointer}/${pointerSegment(name)}`
      const child = value[name]
      out.key(sentence.test(name) ? 'tool' : 'definition', name, at)
      if (name === 'type' && typeof child === 'string') out.word('definition', child, at)
      else walkDefinition(out, child, at, prose.has(name) && typeof child === 'string', depth + 1)
    }
  } else out.walk('tool', value, pointer)
}

/** Depth from which the generic walk continues. */
const deepest = 32

/** Lists of definitions, by the field of a result that holds them. */
export const definitionLists = ['tools', 'prompts', 'resources', 'resourceTemplates'] as const
const isList = (name: string): boolean => (definitionLists as readonly string[]).includes(name)

/**
 * Every leaf and key, with media where a block of content holds them. Texts of blocks that stand in a row are read as
 * one, and so are the values of a structured result, and both behind each other: clients hand both to the model.
 */
function readBlocks(
  out: Collector,
  value: Json | undefined,
  pointer: string,
  role: Role,
  taken: ReadonlySet<string>
): void {
  const before = out.parts.length
  walkBlocks(out, value, pointer, role, 0, taken)
  out.join(out.since(before, ({ pointer: at }) => lastSegment(at) === 'text'))
  const structured = out.since(before, ({ pointer: at }) => at.includes(structuredResult))
  const said = out.since(before, ({ pointer: at }) => ofBlock.test(at) && !at.includes(structuredResult))
  out.join(structured)
  out.join(said.concat(structured))
}

/** Of a call's result, and of a result that a sampling brings. */
const structuredResult = '/structuredContent/'
/** What a block of content says: its text, and what a link to a resource says of it. */
const ofBlock = /\/(?:text|content(?:\/\d+)?\/(?:title|description))$/

const noFields: ReadonlySet<string> = new Set()
const mediaTypes: Readonly<Record<string, 'image' | 'audio'>> = { image: 'image', audio: 'audio' }

function walkBlocks(
  out: Collector,
  value: Json | undefined,
  pointer: string,
  role: Role,
  depth: number,
  taken: ReadonlySet<string> = noFields
): void {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) walkBlocks(out, value[i], `${pointer}/${i}`, role, depth + 1)
    return
  }
  if (!isObject(value) || depth > 16) {
    out.walk(role, value, pointer)
    return
  }
  const kind = typeof value.type === 'string' && typeof value.data === 'string' ? mediaTypes[value.type] : undefined
  if (kind !== undefined || typeof value.blob === 'string') {
    out.mediaObject(kind ?? 'file', role, value, pointer)
    return
  }
  for (const name of Object.keys(value)) {
    if (taken.has(name)) continue
    const at = `${pointer}/${pointerSegment(name)}`
    const child = value[name]
    if (depth === 1 && isList(name) && Array.isArray(child)) {
      out.key(role, name, at)
      for (let i = 0; i < child.length; i++) readDefinition(out, child[i], `${at}/${i}`)
    } else if (isObject(child) || Array.isArray(child)) {
      out.key(role, name, at)
      walkBlocks(out, child, at, role, depth + 1)
    } else if (name === 'requestState') out.opaque('parameter', child, at)
    else out.field(role, name, child, at)
  }
}

/**
 * The part of a request that a reviewer sees and a permit covers: everything except values that differ from call to
 * call.
 */
export function reviewedOf(message: Message): JsonObject {
  if (message.kind === 'response') return message.body
  const { _meta, ...params } = message.params
  return { method: message.method, params }
}
