/** Reads messages whose content is blocks, for Anthropic's Messages and Bedrock's Converse. */
import type { Json, JsonObject, Role } from '../base/chat.js'
import type { Turns } from './turns.js'
import type { Collector } from './walk.js'

type ReadContent = (
  out: Collector,
  content: Json | undefined,
  role: Role,
  pointer: string,
  field: string
) => readonly number[]

const roleOf: Readonly<Record<string, Role>> = { user: 'user', assistant: 'assistant', system: 'system' }

const messageFields = new Set(['role', 'content'])

/**
 * @param readContent reads one message's blocks, and gives the indexes of their texts
 * @throws Fault `validation_error` that names the field
 */
export function readMessages(
  out: Collector,
  turns: Turns,
  messages: readonly JsonObject[],
  readContent: ReadContent
): void {
  for (const [i, message] of messages.entries()) {
    const field = `messages.${i}`
    const role = out.messageRole(roleOf, message, i)
    const indexes = readContent(out, message.content, role, `/messages/${i}/content`, `${field}.content`)
    // A message of the user also carries what tools brought back: both are read in their order.
    turns.addMixed(role, indexes)
    out.rest(role, message, `/messages/${i}`, messageFields)
  }
  turns.end()
}
