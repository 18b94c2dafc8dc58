/** Reads the requests of Converse and ConverseStream: every string leaf and key with its role. */
import type { ChatRequest, Json, JsonObject, Role } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import { readDefinitions } from '../definitions.js'
import type { Target } from '../dialect.js'
import { objectField, requiredList } from '../fields.js'
import { isObject } from '../rewrite.js'
import { Turns } from '../turns.js'
import { Collector } from '../walk.js'
import { readContent } from './blocks.js'
import { modelOf } from './model.js'
import { names } from './names.js'

const roleOf: Readonly<Record<string, Role>> = { user: 'user', assistant: 'assistant', system: 'system' }

const messageFields = new Set(['role', 'content'])
/** Definitions of tools, and the schema of the answer. */
const definitions = ['toolConfig', 'outputConfig']
const bodyFields = new Set(['messages', 'system', 'promptVariables', ...definitions])

/** The model stands in the path; `requestMetadata` is offered as context like the metadata of any dialect. */
export function readConverse(stream: boolean): (body: JsonObject, target: Target) => ChatRequest {
  return (body, target) => {
    const metadata = objectField(body, 'requestMetadata')
    const variables = objectField(body, 'promptVariables')
    const model = modelOf(target)
    const out = new Collector(names)
    if (model !== undefined) out.text('parameter', model, 'path.model')
    const turns = new Turns(out)
    turns.addMixed('system', readContent(out, body.system, 'system', '/system', 'system'))
    // A prompt that the API has stored brings its own messages, and only its variables stand here.
    const isStored = variables !== undefined && body.messages === undefined
    if (variables !== undefined) {
      const before = out.parts.length
      out.walk('user', variables, '/promptVariables')
      turns.add('user', out.since(before))
    }
    readMessages(out, turns, isStored ? [] : requiredList(body, 'messages'))
    for (const name of definitions) readDefinitions(out, body[name], `/${name}`)
    readSchema(out, body.outputConfig)
    out.rest('parameter', body, '', bodyFields)
    const { parts, joined, media } = out
    return { parts, joined, media, stream, model, metadata, session: undefined }
  }
}

function readMessages(out: Collector, turns: Turns, messages: readonly JsonObject[]): void {
  for (const [i, message] of messages.entries()) {
    const field = `messages.${i}`
    const name = message.role
    if (name === undefined) throw invalid(`${field}.role`, 'missing', 'A message must have a role.')
    if (typeof name !== 'string') throw invalid(`${field}.role`, 'wrong_type', 'role must be a string.')
    // A role that this API does not know is judged as the caller's own words, and as a text itself.
    const role = Object.hasOwn(roleOf, name) ? roleOf[name]! : 'user'
    out.word('parameter', name, `/messages/${i}/role`)
    const indexes = readContent(out, message.content, role, `/messages/${i}/content`, `${field}.content`)
    // A message of the user also carries what tools brought back: both are read in their order.
    turns.addMixed(role, indexes)
    out.rest(role, message, `/messages/${i}`, messageFields)
  }
  turns.end()
}

/** The schema of the answer is JSON within a text: what its escapes hide is judged too. */
function readSchema(out: Collector, config: Json | undefined): void {
  const at = ['textFormat', 'structure', 'jsonSchema', 'schema']
  let value = config
  for (const name of at) value = isObject(value) ? value[name] : undefined
  if (typeof value !== 'string') return
  try {
    readDefinitions(out, JSON.parse(value) as Json, `/outputConfig/${at.join('/')}`)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
}
