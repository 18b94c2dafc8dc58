/** Reads the requests of chat, generate and the embeddings: every string leaf and key with its role. */
import type { ChatRequest, Json, JsonObject, Role } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import { readDefinitions } from '../definitions.js'
import { booleanField, requiredList, stringField } from '../fields.js'
import { Turns } from '../turns.js'
import { Collector } from '../walk.js'
import { names } from './names.js'

const roleOf: Readonly<Record<string, Role>> = { system: 'system', user: 'user', assistant: 'assistant', tool: 'tool' }

/** Tool definitions, and the schema of the answer. */
const definitions = ['tools', 'format'] as const
const chatFields = new Set<string>(['messages', ...definitions])
const messageFields = new Set(['role', 'content', 'images'])
/** Texts of a generation by the role in which the model reads them, in its order. */
const promptRoles = { system: 'system', template: 'system', prompt: 'user', suffix: 'user' } as const
const generateFields = new Set<string>([...Object.keys(promptRoles), 'images', 'context', ...definitions])

function finish(out: Collector, body: JsonObject, streams: boolean): ChatRequest {
  const { parts, joined, media } = out
  const model = stringField(body, 'model')
  // This API streams unless it is told not to.
  const stream = streams && (booleanField(body, 'stream') ?? true)
  return { parts, joined, media, stream, model, metadata: undefined, session: undefined }
}

export function readChat(body: JsonObject): ChatRequest {
  const out = new Collector(names)
  // An empty list is how a client has the model loaded.
  if (!isEmptyList(body.messages)) readMessages(out, requiredList(body, 'messages'))
  for (const name of definitions) readDefinitions(out, body[name], `/${name}`)
  out.rest('parameter', body, '', chatFields)
  return finish(out, body, true)
}

function isEmptyList(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length === 0
}

function readMessages(out: Collector, messages: readonly JsonObject[]): void {
  const turns = new Turns(out)
  for (const [i, message] of messages.entries()) {
    const field = `messages.${i}`
    const { content, images } = message
    const role = out.messageRole(roleOf, message, i)
    if (content !== undefined && content !== null && typeof content !== 'string') {
      throw invalid(`${field}.content`, 'wrong_type', 'content must be a string.')
    }
    const indexes = [out.text(role, content ?? '', `/messages/${i}/content`)]
    turns.add(role, indexes)
    readImages(out, images, role, `/messages/${i}/images`, `${field}.images`)
    const before = out.parts.length
    out.rest(role, message, `/messages/${i}`, messageFields)
    // Its thoughts, and what it calls.
    if (out.parts.length > before) out.join(indexes.concat(out.since(before)))
  }
  turns.end()
}

export function readGenerate(body: JsonObject): ChatRequest {
  const out = new Collector(names)
  const turns = new Turns(out)
  const read = new Map<string, number>()
  for (const [name, role] of Object.entries(promptRoles)) {
    const text = stringField(body, name)
    if (text === undefined) continue
    read.set(name, out.text(role, text, `/${name}`))
    turns.add(role, [read.get(name)!])
  }
  turns.end()
  const template = stringField(body, 'template')
  if (template !== undefined && template !== '') out.join(readTemplate(out, template, read))
  readImages(out, body.images, 'user', '/images', 'images')
  // The conversation so far as the model's own numbers: nobody can read what it says.
  if (Array.isArray(body.context) ? body.context.length > 0 : (body.context ?? undefined) !== undefined) {
    out.mediaObject('file', 'user', body.context, '/context')
  }
  for (const name of definitions) readDefinitions(out, body[name], `/${name}`)
  out.rest('parameter', body, '', generateFields)
  return finish(out, body, true)
}

/** Where a template puts a text. */
const slots = /(\{\{-?)\s*\.(System|Prompt|Response)\s*(-?\}\})/

/**
 * Reads what the model does: the caller's own words in the template, around the texts that it places.
 * @param read the indexes of those texts
 * @throws Fault `validation_error` for a template that may read a text twice, in another order, or by parts
 */
function readTemplate(out: Collector, template: string, read: ReadonlyMap<string, number>): number[] {
  const pieces = plainTemplate(template)
  if (pieces === undefined) {
    const why =
      'A template may hold {{ .System }} once, then {{ .Prompt }} once, then {{ .Response }}, and no other action.'
    throw invalid('template', 'unknown_value', why)
  }
  return pieces.map(({ name, text }) =>
    name === undefined ? out.decoded('system', text, '/template') : (read.get(name) ?? -1)
  )
}

/** @returns the literal texts and the names of the fields between them, in their order; undefined for any other one */
export function plainTemplate(template: string): { name?: string; text: string }[] | undefined {
  const pieces: { name?: string; text: string }[] = []
  let order = ''
  // Literal, opening, name, closing, literal, …
  const split = template.split(slots)
  for (let i = 0; i < split.length; i += 4) {
    let text = split[i]!
    if (text.includes('{{')) return undefined
    // A hyphen removes the white space beside it.
    if (split[i - 1]?.startsWith('-')) text = text.trimStart()
    if (split[i + 1]?.endsWith('-')) text = text.trimEnd()
    pieces.push({ text })
    const name = split[i + 2]
    if (name === undefined) break
    order += name
    if (name !== 'Response') pieces.push({ name: name.toLowerCase(), text: '' })
  }
  return /^(?:System)?Prompt(?:Response)?$/.test(order) ? pieces : undefined
}

function readImages(out: Collector, images: Json | undefined, role: Role, pointer: string, field: string): void {
  if (images === undefined || images === null) return
  if (!Array.isArray(images)) throw invalid(field, 'wrong_type', `${field} must be an array.`)
  for (const [i, image] of images.entries()) out.mediaObject('image', role, image, `${pointer}/${i}`)
}

const inputField = new Set(['input'])
const promptField = new Set(['prompt'])

export function readEmbed(body: JsonObject): ChatRequest {
  const out = new Collector(names)
  const { input } = body
  if (input === undefined) throw invalid('input', 'missing', 'The field input is required.')
  const texts = Array.isArray(input) ? input : [input]
  for (const [i, text] of texts.entries()) {
    if (typeof text !== 'string') throw invalid('input', 'wrong_type', 'input must be a string or an array of strings.')
    out.text('user', text, Array.isArray(input) ? `/input/${i}` : '/input')
  }
  out.rest('parameter', body, '', inputField)
  return finish(out, body, false)
}

/** The older operation: one prompt. */
export function readEmbeddings(body: JsonObject): ChatRequest {
  const out = new Collector(names)
  out.text('user', stringField(body, 'prompt') ?? '', '/prompt')
  out.rest('parameter', body, '', promptField)
  return finish(out, body, false)
}
