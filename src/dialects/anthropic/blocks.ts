/**
 * Content blocks, as requests, answers and the events of a stream hold them. Blocks stand within blocks (a document in a
 * tool's result, a page in a search's), so every object with a known `type` is read as a block wherever it lies.
 */
import type { Json, JsonObject, Media, Role } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import { CallsOfTurn, readCallFields } from '../calls.js'
import { isObject } from '../rewrite.js'
import { append, type Collector, lastSegment, refuseTwins } from '../walk.js'

/** The role of a block, where it differs from that of its message. */
function roleWithin(type: Json | undefined, role: Role): Role {
  if (typeof type !== 'string') return role
  return type === 'document' || type === 'search_result' || type.endsWith('_result') ? 'tool' : role
}

/** Encrypted state: signatures of thoughts, results that only the API reads. */
const opaqueFields = new Set(['signature', 'encrypted_content', 'encrypted_index', 'encrypted_stdout'])

/**
 * @param content a text, or a list of blocks
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
  if (typeof content === 'string') return [out.text(role, content, pointer)]
  if (!Array.isArray(content)) throw invalid(field, 'wrong_type', `${field} must be a string or an array of blocks.`)
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

/** Fields of prose. Ids, addresses and arguments of tools would only separate two halves of a payload. */
const prose = /^(?:text|thinking|content|data|title|context|stdout|stderr|\d+)$/

/** Fields by whose names a block is read. */
const blockFields = new Set([
  ...opaqueFields,
  ...'type text thinking content data title context input source'.split(' ')
])

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
  visit(out, block, role, pointer, turn)
  if (typeof block.type === 'string' && block.type.endsWith('tool_use')) return []
  const said = out.since(before, (part) => prose.test(lastSegment(part.pointer)))
  turn?.say(said)
  return said
}

/** Depth is bounded by the strict reader. */
function visit(
  out: Collector,
  value: Json | undefined,
  role: Role,
  pointer: string,
  turn: CallsOfTurn | undefined
): void {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) visit(out, value[i], role, `${pointer}/${i}`, turn)
  } else if (isObject(value)) {
    visitObject(out, value, role, pointer, turn)
  } else {
    out.walk(role, value, pointer)
  }
}

function visitObject(
  out: Collector,
  object: JsonObject,
  outer: Role,
  pointer: string,
  turn: CallsOfTurn | undefined
): void {
  refuseTwins(object, pointer, blockFields)
  const { type, source } = object
  const role = roleWithin(type, outer)
  const kind = mediaKind(object)
  if (kind !== undefined) {
    out.mediaObject(kind, role, object, pointer)
    return
  }
  const read = (name: string, child: Json, at: string) => {
    // Arguments are data of the caller's own shape: nothing in them is a block.
    const isInput = name === 'input' && typeof type === 'string'
    if (isInput) out.walk(role, child, at)
    else if (name === 'type' && typeof child === 'string') out.word(role, child, at)
    else if (opaqueFields.has(name) || (name === 'data' && type === 'redacted_thinking')) out.opaque(role, child, at)
    else if (name === 'source' && isPlainText(source)) readPlainText(out, source, role, at)
    else visit(out, child, role, at, turn)
    return isInput
  }
  readCallFields(out, object, role, pointer, read, turn)
}

/** `{"type": "text", "media_type": "text/plain", "data": …}`: always text. */
function isPlainText(source: Json | undefined): source is JsonObject {
  return isObject(source) && source.type === 'text'
}

function readPlainText(out: Collector, source: JsonObject, role: Role, pointer: string): void {
  if (typeof source.data === 'string') out.text(role, source.data, `${pointer}/data`)
  out.rest(role, source, pointer, typeof source.data === 'string' ? dataField : noFields)
}

const dataField = new Set(['data'])
const noFields: ReadonlySet<string> = new Set()

/** Images, documents that are no text, and files handed to a container. */
function mediaKind({ type, source }: JsonObject): Media['kind'] | undefined {
  if (type === 'image') return 'image'
  if (type === 'container_upload') return 'file'
  if (type !== 'document' || !isObject(source)) return undefined
  return source.type === 'text' || source.type === 'content' ? undefined : 'file'
}
