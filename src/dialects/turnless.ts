/** Operations whose answers are numbers (token counts, embeddings): there is no place for a sentence in them. */
import type { JsonObject } from '../chat.js'
import type { Dialect } from './dialect.js'
import { unreadable } from './reply-stream.js'

type Turnless = Pick<
  Dialect,
  'hasTurns' | 'framing' | 'openStream' | 'turn' | 'turnStream' | 'filtered' | 'forgetTokens'
>

/**
 * Their refusals are errors whatever the route says. What stands for a withheld answer is the error too, though the
 * readers of such answers let no text through that could be withheld.
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
