/**
 * Calls that wait for a reviewer. A client that asked for progress gets progress messages meanwhile, so that it does
 * not give up: its answer is then a stream that ends with the result.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Json, JsonObject } from '../../base/chat.js'
import { eventFrame } from '../../dialects/mcp/write.js'
import { isObject } from '../../dialects/rewrite.js'
import { ClientGone, type Exchange, type Reply } from '../exchange.js'
import { mediaTypes } from '../headers.js'

/** Longer than a verdict takes. */
const beginMs = 1_000
const everyMs = 5_000

/**
 * @param answer the awaited answer; it does not reject
 * @returns the answer, or a stream that ends with it
 */
export async function whileHeld(exchange: Exchange, params: JsonObject, answer: Promise<Reply>): Promise<Reply> {
  const token = tokenOf(params)
  if (token === undefined) return answer
  const first = await Promise.race([answer, delay(beginMs, undefined, { ref: false })])
  if (first !== undefined) return first
  // Without a review the server itself is slow, and reports its own progress.
  if (exchange.reviewId === undefined) return answer
  return {
    status: 200,
    headers: {
      'content-type': mediaTypes.sse.sent,
      'cache-control': 'no-cache',
      'x-safety-review-id': exchange.reviewId
    },
    body: progress(token, 1),
    rest: { encoding: 'utf8', frames: frames(exchange, token, answer), broken: () => ': \n\n' }
  }
}

async function* frames(exchange: Exchange, token: Json, answer: Promise<Reply>): AsyncGenerator<string, string> {
  for (let count = 2; ; count++) {
    const reply = await Promise.race([answer, delay(everyMs, undefined, { ref: false })])
    if (exchange.inbound.cancel.reason instanceof ClientGone) throw exchange.inbound.cancel.reason
    if (reply === undefined) {
      yield progress(token, count)
      continue
    }
    const text = String(reply.body)
    if (reply.rest === undefined) return eventFrame(JSON.parse(text) as JsonObject)
    yield text
    return yield* reply.rest.frames
  }
}

function progress(progressToken: Json, count: number): string {
  return eventFrame({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken, progress: count, message: 'A person decides about this call.' }
  })
}

function tokenOf({ _meta }: JsonObject): Json | undefined {
  const token = isObject(_meta) ? _meta.progressToken : undefined
  return typeof token === 'string' || Number.isSafeInteger(token) ? token : undefined
}
