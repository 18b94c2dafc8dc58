/** Reads `POST /v1/messages` and `POST /v1/messages/count_tokens`: every string leaf and key with its role. */
import type { ChatRequest, JsonObject } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import { readMessages } from '../block-messages.js'
import { readDefinitions } from '../definitions.js'
import { booleanField, objectField, requiredList, stringField } from '../fields.js'
import { Turns } from '../turns.js'
import { Collector } from '../walk.js'
import { readContent } from './blocks.js'
import { names } from './names.js'

/** Definitions of tools and of servers that hold some, and schemas of the answer. */
const definitions = ['tools', 'mcp_servers', 'output_config', 'output_format']
const bodyFields = new Set(['messages', 'system', ...definitions])

/**
 * The metadata object is offered as context like that of any dialect; the API itself takes only `user_id` there, which is
 * no key that counts, so that context comes by the header as a rule.
 */
export function readRequest(body: JsonObject): ChatRequest {
  const messages = requiredList(body, 'messages')
  const model = stringField(body, 'model')
  const stream = booleanField(body, 'stream') ?? false
  const metadata = objectField(body, 'metadata')
  const thread = objectField(body, 'thread')
  const after = thread?.previous_message_id ?? undefined
  if (after !== undefined && typeof after !== 'string') {
    throw invalid('thread.previous_message_id', 'wrong_type', 'thread.previous_message_id must be a string.')
  }
  const out = new Collector(names)
  const turns = new Turns(out)
  turns.addMixed('system', readContent(out, body.system, 'system', '/system', 'system'))
  readMessages(out, turns, messages, readContent)
  for (const name of definitions) readDefinitions(out, body[name], `/${name}`)
  out.rest('parameter', body, '', bodyFields)
  const { parts, joined, media } = out
  return {
    parts,
    joined,
    media,
    stream,
    model,
    metadata,
    session: undefined,
    ...(after !== undefined && { after }),
    // A thread is kept by the API, so that the next request brings its own turns only.
    ...(thread !== undefined && { isKept: true })
  }
}
