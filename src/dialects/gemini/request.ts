/** Reads the requests of generateContent, countTokens and the embeddings: every string leaf and key with its role. */
import type { ChatRequest, Json, JsonObject } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import { readDefinitions } from '../definitions.js'
import type { Target } from '../dialect.js'
import { objectAt, requiredList } from '../fields.js'
import { isObject, pointerSegment } from '../rewrite.js'
import { Turns } from '../turns.js'
import { Collector, refuseTwins } from '../walk.js'
import { elementsOf, readContent } from './content.js'
import { names, snakeCase, spellings } from './names.js'

const systemFields = spellings('systemInstruction')
const definitionFields = spellings('tools')
const configFields = spellings('generationConfig')
const schemaFields = spellings('responseSchema', 'responseJsonSchema')
const opaqueFields = spellings('continuationToken')
/** References to contents elsewhere, which cannot be read here. */
const referenceFields = spellings('cachedContent')

/** Fields by whose names a body is read. */
const bodyFields = new Set([
  'contents',
  ...systemFields,
  ...definitionFields,
  ...configFields,
  ...opaqueFields,
  ...referenceFields
])

/** The model is in the path: its name is judged like that in the body of other APIs. */
function begin({ params }: Target): Collector {
  const out = new Collector(names)
  if (params.model !== undefined) out.text('parameter', params.model, 'path.model')
  return out
}

function finish({ parts, joined, media }: Collector, target: Target, stream: boolean): ChatRequest {
  const { model } = target.params
  return { parts, joined, media, stream, model, metadata: undefined, session: undefined }
}

export function readGenerate(stream: boolean): (body: JsonObject, target: Target) => ChatRequest {
  return (body, target) => {
    const out = begin(target)
    readBody(out, body, '', '')
    return finish(out, target, stream)
  }
}

/** @param field the same place as `pointer`, as an error names it, with its dot at the end */
function readBody(out: Collector, body: JsonObject, pointer: string, field: string): void {
  refuseTwins(body, pointer, bodyFields)
  const turns = new Turns(out)
  // A model reads the system instruction before the contents, wherever it is in the body.
  for (const name of systemFields) {
    const value = body[name] ?? null
    const at = `${pointer}/${name}`
    if (value !== null) {
      const { indexes } = readContent(out, objectAt(value, `${field}${name}`), 'system', at, `${field}${name}`)
      turns.addMixed('system', indexes)
    }
  }
  readContents(out, turns, body, pointer, field)
  for (const name of Object.keys(body)) {
    if (name === 'contents' || systemFields.has(name)) continue
    const value = body[name] as Json
    const at = `${pointer}/${pointerSegment(name)}`
    out.key('parameter', name, at)
    if (definitionFields.has(name)) readDefinitions(out, value, at)
    else if (configFields.has(name) && isObject(value)) readConfig(out, value, at)
    else if (referenceFields.has(name) && value !== null) out.mediaObject('file', 'parameter', value, at)
    else if (opaqueFields.has(name)) out.opaque('parameter', value, at)
    else out.walk('parameter', value, at)
  }
}

function readContents(out: Collector, turns: Turns, body: JsonObject, pointer: string, field: string): void {
  const { contents } = body
  const list = isObject(contents) ? contents : [...requiredList(body, 'contents')]
  for (const { element, at, place } of elementsOf(list, `${pointer}/contents`, `${field}contents`)) {
    const { role, indexes } = readContent(out, element, 'user', at, place)
    // A turn of the user also carries what functions brought back: both are read in their order.
    turns.addMixed(role, indexes)
  }
  turns.end()
}

function readConfig(out: Collector, config: JsonObject, pointer: string): void {
  for (const name of Object.keys(config)) {
    const at = `${pointer}/${pointerSegment(name)}`
    out.key('parameter', name, at)
    if (schemaFields.has(name)) readDefinitions(out, config[name], at)
    else out.walk('parameter', config[name], at)
  }
}

/** Either contents, or a whole request of generateContent under a name of its own. */
export function readCountTokens(body: JsonObject, target: Target): ChatRequest {
  const out = begin(target)
  const name = ['generateContentRequest', snakeCase('generateContentRequest')].find((each) => body[each] !== undefined)
  if (name === undefined) readBody(out, body, '', '')
  else {
    readBody(out, objectAt(body[name], name), `/${name}`, `${name}.`)
    if (body.contents !== undefined)
      throw invalid('contents', 'unknown_field', `contents does not stand beside ${name}.`)
    out.rest('parameter', body, '', new Set([name]))
  }
  return finish(out, target, false)
}

export function readEmbed(body: JsonObject, target: Target): ChatRequest {
  const out = begin(target)
  readEmbedded(out, body, '', '')
  return finish(out, target, false)
}

export function readBatchEmbed(body: JsonObject, target: Target): ChatRequest {
  const out = begin(target)
  for (const [i, request] of requiredList(body, 'requests').entries()) {
    readEmbedded(out, request, `/requests/${i}`, `requests.${i}.`)
  }
  out.rest('parameter', body, '', requestsField)
  return finish(out, target, false)
}

const requestsField = new Set(['requests'])
const contentField = new Set(['content'])

function readEmbedded(out: Collector, request: JsonObject, pointer: string, field: string): void {
  const content = objectAt(request.content, `${field}content`)
  out.join(readContent(out, content, 'user', `${pointer}/content`, `${field}content`).indexes)
  out.rest('parameter', request, pointer, contentField)
}
