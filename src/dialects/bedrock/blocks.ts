/**
 * Content blocks, as requests and answers hold them: objects whose one field says what they are. Blocks stand within blocks
 * (a picture in a tool's result, a text in a document), so each is read wherever it lies.
 */
import type { Json, JsonObject, Media, Role } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import { CallsOfTurn, readCallFields } from '../calls.js'
import { isObject } from '../rewrite.js'
import { append, type Collector, lastSegment } from '../walk.js'
import { names } from './names.js'

const mediaKinds: Readonly<Record<string, Media['kind']>> = { image: 'image', video: 'video', audio: 'audio' }
/** Results of tools and searches, and documents: the words of others in a user's turn. */
const broughtBack = new Set(['toolResult', 'searchResult'])
/** Encrypted state: signatures of thoughts, thoughts that only the model reads. */
export const opaqueFields: ReadonlySet<string> = new Set(['signature', 'redactedContent'])
/** Data of the caller's own shape, which contains no blocks. */
const dataFields = new Set(['json', 'input'])
/** Fields whose values are enumerated. */
const wordFields = new Set(['type', 'status', 'format', 'ttl'])
/** Fields that only name a call or a place. */
const nameFields = new Set([
  'toolUseId',
  'name',
  'uri',
  'bucketOwner',
  'url',
  'domain',
  'type',
  'status',
  'format',
  'ttl'
])

/**
 * @param content a list of blocks
 * @returns indexes of the texts that a model reads one after the other
 * @throws Fault `validation_error` that names `field`
 */
export function readContent(
  out: Collector,
  content: Json | undefined,
  role: Role,
  pointer: string,
  field: string
): number[] {
  if (content === undefined || content === null) return []
  if (!Array.isArray(content)) throw invalid(field, 'wrong_type', `${field} must be an array of blocks.`)
  const indexes: number[] = []
  const turn = new CallsOfTurn(out)
  for (let i = 0; i < content.length; i++) {
    const block = content[i]
    if (!isObject(block)) throw invalid(`${field}.${i}`, 'wrong_type', 'A content block must be an object.')
    append(indexes, readBlock(out, block, role, `${pointer}/${i}`, turn))
  }
  turn.join()
  return indexes
}

/**
 * @param turn takes what the block says, and what its calls are given
 * @returns indexes of the block's texts that a model reads as part of the conversation
 */
export function readBlock(
  out: Collector,
  block: JsonObject,
  role: Role,
  pointer: string,
  turn?: CallsOfTurn
): number[] {
  const before = out.parts.length
  visitObject(out, block, role, pointer, turn)
  if ('toolUse' in block) return []
  const said = out.since(before, ({ text, pointer: at }) => !names.has(text) && !nameFields.has(lastSegment(at)))
  turn?.say(said)
  return said
}

/** Depth is bounded by the strict reader. */
function visit(out: Collector, value: Json, role: Role, pointer: string, turn: CallsOfTurn | undefined): void {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) visit(out, value[i]!, role, `${pointer}/${i}`, turn)
  } else if (isObject(value)) {
    visitObject(out, value, role, pointer, turn)
  } else {
    out.walk(role, value, pointer)
  }
}

function visitObject(
  out: Collector,
  object: JsonObject,
  role: Role,
  pointer: string,
  turn: CallsOfTurn | undefined
): void {
  const read = (name: string, child: Json, at: string) => {
    const kind = Object.hasOwn(mediaKinds, name) ? mediaKinds[name] : undefined
    if (kind !== undefined && child !== null) out.mediaObject(kind, role, child, at)
    else if (name === 'document' && isObject(child)) readDocument(out, child, at, turn)
    else if (broughtBack.has(name)) visit(out, child, 'tool', at, turn)
    else if (opaqueFields.has(name)) out.opaque(role, child, at)
    else if (dataFields.has(name)) out.walk(role, child, at)
    else if (wordFields.has(name) && typeof child === 'string') out.word(role, child, at)
    else visit(out, child, role, at, turn)
    return name === 'input'
  }
  readCallFields(out, object, role, pointer, read, turn)
}

/** Its bytes are media; a text, or a list of texts, in their place is read. */
function readDocument(out: Collector, document: JsonObject, pointer: string, turn: CallsOfTurn | undefined): void {
  const { source } = document
  const isText = isObject(source) && Object.keys(source).every((name) => name === 'text' || name === 'content')
  if (isText) visitObject(out, document, 'tool', pointer, turn)
  else out.mediaObject('file', 'tool', document, pointer)
}
