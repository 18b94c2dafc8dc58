/** Operations whose answers are numbers (token counts, embeddings), without a place for a sentence. */
import type { ChatReply, Json, JsonObject } from '../base/chat.js'
import type { Dialect } from './dialect.js'
import { unreadable } from './reply-stream.js'
import { isObject } from './rewrite.js'
import { Collector } from './walk.js'

type Turnless = Pick<
  Dialect,
  'hasTurns' | 'framing' | 'openStream' | 'turn' | 'turnStream' | 'filtered' | 'forgetTokens'
>

/**
 * Their refusals are always errors, whatever the route says. A withheld answer is replaced by the error too, although
 * the readers of such answers pass no text.
 */
export function turnless({ denied }: Pick<Dialect, 'denied'>): Turnless {
  const refuse = ({ denial, requestId }: Parameters<Dialect['turn']>[0]): JsonObject => denied(denial, requestId)
  return {
    hasTurns: false,
    framing: () => 'sse',
    openStream: () => {
      throw unreadable('this operation does not stream')
    },
    turn: refuse,
    turnStream: (facts) => JSON.stringify(refuse(facts)),
    filtered: (_reply, facts) => refuse(facts),
    forgetTokens: () => {}
  }
}

/**
 * Reads such an answer: only numbers, under the API's own names.
 * @param field the field that every answer of the operation has
 */
export function readNumbers(field: string, names: ReadonlySet<string>): (body: JsonObject) => ChatReply | undefined {
  const isClosed = (value: Json | undefined): boolean => {
    if (Array.isArray(value)) return value.every(isClosed)
    if (isObject(value)) return Object.keys(value).every((name) => names.has(name) && isClosed(value[name]))
    return typeof value !== 'string' || names.has(value)
  }
  return (body) => (body[field] !== undefined && isClosed(body) ? new Collector(names) : undefined)
}
