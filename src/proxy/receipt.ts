/** What of an exchange was forwarded unjudged, and why: counted, told in the reply's headers, and in the audit's rows. */
import type { ChatContent } from '../base/chat.js'
import type { Exchange } from './exchange.js'

/** @param reason one of the metric's: a kind of media, or `output_off` */
export function passUnjudged(exchange: Exchange, reason: string): void {
  exchange.deps.metrics.notEvaluated.inc({ reason })
  noteUnjudged(exchange, reason)
}

/** Media that a route lets through. */
export function passMedia(exchange: Exchange, { media }: ChatContent): void {
  for (const { kind } of media) passUnjudged(exchange, kind)
}

/** Where something else counts it. */
export function noteUnjudged(exchange: Exchange, reason: string): void {
  exchange.unjudged ??= new Set()
  exchange.unjudged.add(reason)
}

/** @returns what the row of a verdict says was no part of it; undefined where all of it was */
export function beyondVerdict(
  { route }: Exchange,
  direction: 'request' | 'answer',
  { media }: ChatContent
): readonly string[] | undefined {
  const isOff = direction === 'request' && route.output === 'off'
  if (media.length === 0 && !isOff) return undefined
  return [...new Set([...media.map(({ kind }) => kind), ...(isOff ? ['output_off'] : [])])]
}
