/** An event of the upstream that belongs to no response: the state of the session, of an item, of a buffer; an error. */
import { HeldStream } from '../../dialects/held-stream.js'
import { RealtimeStreamShape } from '../../dialects/openai-realtime/stream.js'
import { settle } from '../answer/stream.js'
import { judgeContent } from '../answer/verdict.js'
import type { Exchange } from '../exchange.js'
import type { Session } from './session.js'

/** @returns what may leave: the event, or the error that stands for it */
export async function judgeSingle({ nextId }: Session, exchange: Exchange, line: string): Promise<string> {
  const { route } = exchange
  const stream = new HeldStream(new RealtimeStreamShape('one', nextId))
  stream.started = true
  stream.push({ data: line })
  if (route.output === 'off' || route.mode === 'observe') {
    if (route.output !== 'off') await judgeContent(exchange, stream.content())
    return stream.release(undefined, []).frames
  }
  return (await settle(exchange, stream, undefined)).text
}
