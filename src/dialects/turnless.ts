/** Operations whose answers are numbers (token counts, embeddings), without a place for a sentence. */
import type { ChatReply, Json, JsonObject } from '../base/chat.js'
import type { Dialect } from './dialect.js'
import { unreadable } from './reply-stream.js'
import { isObject, pointerSegment } from './rewrite.js'
import { Collector } from './walk.js'

type Turnless = Pick<
  Dialect,
  'hasTurns' | 'framing' | 'openStream' | 'turn' | 'turnStream' | 'filtered' | 'forgetTokens'
>

/**
 * Their refusals are always errors, whatever the route says, and a withheld answer is replaced by the error too.
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
 * Reads such an answer: numbers under the API's own names. Anything else in it, a name of a newer field too, is judged as
 * the model's words.
 * @param field the field that every answer of the operation has
 */
export function readNumbers(field: string, names: ReadonlySet<string>): (body: JsonObject) => ChatReply | undefined {
  return (body) => {
    if (body[field] === undefined) return undefined
    const out = new Collector(names)
    readWords(out, names, body, '')
    return out
  }
}

/** Every key and every text that is no name of the API's own. */
function readWords(out: Collector, names: ReadonlySet<string>, value: Json | undefined, pointer: string): void {
  if (typeof value === 'string') {
    if (!names.has(value)) out.text('assistant', value, pointer)
  } else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      if (typeof value[i] !== 'number') readWords(out, names, value[i], `${pointer}/${i}`)
    }
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const at = `${pointer}/${pointerSegment(name)}`
      out.key('assistant', name, at)
      readWords(out, names, value[name], at)
    }
  }
}
