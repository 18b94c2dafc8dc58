/** The events of a streamed answer, and the connection behind them. */
import { Readable } from 'node:stream'
import { Fault } from '../base/errors.js'
import type { Framing } from '../dialects/dialect.js'
import type { WireEvent } from '../dialects/reply-stream.js'
import { decodeStream } from '../edge/body.js'
import type { UpstreamAnswer } from './ask.js'
import type { Exchange } from './exchange.js'
import { codingOf, discard } from './forward.js'
import { readWire } from './wire.js'

/** Where the events of an answer come from. */
export interface Source {
  framing: Framing
  /** Those that came together are given together. */
  events: AsyncGenerator<readonly WireEvent[], void, undefined>
  /** The credential that was used: never shown to a client. */
  key: string | undefined
  /** True where an event that waits for no text leaves at once: people are talking to each other. */
  isLive?: boolean
  /** @param ended whether the answer came to its end */
  close(ended: boolean): void
}

/** @throws Fault `upstream_error` for a content coding that is not known */
export function openSource({ route, inbound }: Exchange, answer: UpstreamAnswer): Source {
  const framing = route.spoken.framing(inbound.target)
  const raw = Buffer.isBuffer(answer.body) ? Readable.from([answer.body]) : answer.body
  const body = decodeStream(raw, codingOf(answer))
  if (body === undefined) {
    discard(raw)
    throw new Fault('upstream_error', { internal: 'the stream came in an unknown content coding' })
  }
  const events = readWire(framing, body)
  return {
    framing,
    events,
    key: answer.key,
    close(ended) {
      // After the end marker the connection is left to close in its own time; anything else is cut.
      if (!ended) discard(body)
      events.return().catch(() => {})
    }
  }
}
