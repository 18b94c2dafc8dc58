/** Reads the requests of Converse and ConverseStream: every string leaf and key with its role. */
import type { ChatRequest, Json, JsonObject } from '../../base/chat.js'
import { readMessages } from '../block-messages.js'
import { readDefinitions } from '../definitions.js'
import type { Target } from '../dialect.js'
import { objectField, requiredList } from '../fields.js'
import { isObject } from '../rewrite.js'
import { Turns } from '../turns.js'
import { Collector } from '../walk.js'
import { readContent } from './blocks.js'
import { modelOf } from './model.js'
import { names } from './names.js'

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
    readMessages(out, turns, isStored ? [] : requiredList(body, 'messages'), readContent)
    for (const name of definitions) readDefinitions(out, body[name], `/${name}`)
    readSchema(out, body.outputConfig)
    out.rest('parameter', body, '', bodyFields)
    const { parts, joined, media } = out
    return { parts, joined, media, stream, model, metadata, session: undefined }
  }
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
