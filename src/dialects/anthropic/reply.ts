/** Reads answers that are not streamed. */
import type { ChatReply, JsonObject } from '../../chat.js'
import { isObject } from '../rewrite.js'
import { Collector } from '../walk.js'
import { readBlock } from './blocks.js'
import { names } from './names.js'

const messageFields = new Set(['content', 'role', 'stop_reason', 'stop_details'])

/** A message: all blocks, and what else it says. */
export function readReply(body: JsonObject): ChatReply | undefined {
  if (body.type !== 'message' || !Array.isArray(body.content)) return undefined
  const out = new Collector(names)
  const run: number[] = []
  for (const [i, block] of body.content.entries()) {
    if (!isObject(block)) return undefined
    run.push(...readBlock(out, block, 'assistant', `/content/${i}`))
  }
  out.join(run)
  readMessage(out, body)
  return typeof body.id === 'string' ? Object.assign(out, { id: body.id }) : out
}

/** A message beside its blocks, as a whole or as a stream begins and ends it. */
export function readMessage(out: Collector, message: JsonObject): void {
  for (const name of ['role', 'stop_reason']) {
    const value = message[name]
    if (typeof value === 'string') out.word('assistant', value, `/${name}`)
    else out.walk('assistant', value, `/${name}`)
  }
  out.walk('assistant', message.stop_details, '/stop_details')
  out.rest('parameter', message, '', messageFields)
}
