/** Reads a `Content`, a turn with its role and parts, of requests and whole answers. */
import type { Json, JsonObject, Media, Role } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import { CallsOfTurn, joinCallRead } from '../calls.js'
import { objectAt } from '../fields.js'
import { kindOf } from '../media.js'
import { isObject, pointerSegment } from '../rewrite.js'
import { append, type Collector, lastSegment, refuseTwins, roleNamed } from '../walk.js'
import { names, spellings } from './names.js'

const roleOf: Readonly<Record<string, Role>> = { user: 'user', model: 'assistant', function: 'tool', system: 'system' }

const contentFields = new Set(['role', 'parts'])
const mediaFields = spellings('inlineData', 'fileData')
/** Fields with results of code or tools. */
const resultFields = spellings('functionResponse', 'codeExecutionResult', 'toolResponse')
/** Fields with a call of a tool, the caller's or the API's own. */
const callFields = spellings('functionCall', 'toolCall')
/** Code that the model has the API run. */
const codeFields = spellings('executableCode')
/** Encrypted state of a thought. */
export const opaqueFields = spellings('thoughtSignature')

/**
 * @param role the default where the content has no role
 * @returns the role of the turn, and the indexes of the texts that a model reads one after the other
 * @throws Fault `validation_error` that names `field`
 */
export function readContent(
  out: Collector,
  content: JsonObject,
  otherwise: Role,
  pointer: string,
  field: string
): { role: Role; indexes: number[] } {
  const { role: name, parts } = content
  if (name !== undefined && name !== null && typeof name !== 'string') {
    throw invalid(`${field}.role`, 'wrong_type', 'role must be a string.')
  }
  let role = otherwise
  if (typeof name === 'string' && name !== '') {
    role = roleNamed(roleOf, name)
    out.word('parameter', name, `${pointer}/role`)
  }
  const indexes: number[] = []
  // What is said goes on over the thoughts that stand in it.
  const said: number[] = []
  const turn = new CallsOfTurn(out)
  for (const { element: part, at } of elementsOf(parts ?? [], `${pointer}/parts`, `${field}.parts`)) {
    const read = readPart(out, part, role, at, turn)
    append(indexes, read)
    if (part.thought === true) continue
    append(said, read)
    turn.say(read)
  }
  turn.join()
  if (said.length < indexes.length) out.join(said)
  out.rest(role, content, pointer, contentFields)
  return { role, indexes }
}

/**
 * The elements of a list of objects. Google's JSON takes one element without its list, and Google's own examples write
 * `"contents": {"parts": {"text": "Hello"}}`.
 * @returns each element with its pointer, and the place as an error names it
 * @throws Fault `validation_error`
 */
export function elementsOf(
  list: Json,
  pointer: string,
  field: string
): { element: JsonObject; at: string; place: string }[] {
  if (isObject(list)) return [{ element: list, at: pointer, place: field }]
  if (!Array.isArray(list)) throw invalid(field, 'wrong_type', `${field} must be an array of objects, or one object.`)
  return list.map((each, i) => {
    const place = `${field}.${i}`
    return { element: objectAt(each, place), at: `${pointer}/${i}`, place }
  })
}

/** Fields by whose names a part is read. */
const partFields = new Set(['text', 'thought', ...opaqueFields, ...mediaFields, ...resultFields])

/**
 * @param turn takes what its calls are given
 * @returns indexes of the texts that a model reads as part of the conversation
 */
export function readPart(out: Collector, part: JsonObject, role: Role, pointer: string, turn?: CallsOfTurn): number[] {
  refuseTwins(part, pointer, partFields)
  const indexes: number[] = []
  for (const name of Object.keys(part)) {
    const at = `${pointer}/${pointerSegment(name)}`
    const value = part[name] as Json
    out.key(role, name, at)
    if (name === 'text' && typeof value === 'string') indexes.push(out.text(role, value, at))
    else if (opaqueFields.has(name)) out.opaque(role, value, at)
    else if (mediaFields.has(name)) out.mediaObject(mediaKind(value), role, value, at)
    else if (resultFields.has(name)) append(indexes, readResult(out, value, at))
    else {
      const before = out.parts.length
      out.walk(role, value, at)
      const given = callFields.has(name) ? 'args' : codeFields.has(name) ? 'code' : undefined
      const called = given === undefined ? [] : joinCallRead(out, before, at, given)
      turn?.give(called)
    }
  }
  return indexes
}

/** The result of a function is an object of the caller's own shape; its texts are read in order. */
function readResult(out: Collector, value: Json, pointer: string): number[] {
  const before = out.parts.length
  if (isObject(value) && Array.isArray(value.parts)) {
    // Newer models accept media beside a function's result.
    for (const [i, part] of value.parts.entries()) {
      if (isObject(part)) readPart(out, part, 'tool', `${pointer}/parts/${i}`)
      else out.walk('tool', part, `${pointer}/parts/${i}`)
    }
    out.rest('tool', value, pointer, partsField)
  } else {
    out.walk('tool', value, pointer)
  }
  return out.since(before, ({ text, pointer: at }) => !names.has(text) && !nameFields.has(lastSegment(at)))
}

const partsField = new Set(['parts'])
/** Fields that only name a call. */
const nameFields = new Set(['id', 'name'])

function mediaKind(value: Json): Media['kind'] {
  return isObject(value) ? kindOf(value.mimeType ?? value.mime_type, value.data) : 'file'
}
