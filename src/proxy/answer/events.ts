/** The framings of a streamed answer: their media types, and the events of each from bytes. */
import type { Readable } from 'node:stream'
import type { Dialect, Framing, Target } from '../../dialects/dialect.js'
import type { WireEvent } from '../../dialects/reply-stream.js'
import { readArray } from './json-array.js'
import { readLines } from './ndjson.js'
import { readEvents } from './sse.js'

/** What an upstream is asked for and answers with, and what a client is sent. */
export const mediaTypes: Readonly<Record<Framing, { received: string; sent: string }>> = {
  sse: { received: 'text/event-stream', sent: 'text/event-stream; charset=utf-8' },
  ndjson: { received: 'application/x-ndjson', sent: 'application/x-ndjson' },
  'json-array': { received: 'application/json', sent: 'application/json; charset=utf-8' }
}

/**
 * The events of a body, whatever its network chunks look like; those that came together are given together, so that they
 * are judged together.
 * @throws Fault `upstream_error` for bytes that are not of the framing; the stream's own error where the connection breaks
 */
export function readWire(framing: Framing, body: Readable): AsyncGenerator<readonly WireEvent[], void, undefined> {
  switch (framing) {
    case 'sse':
      return readEvents(body)
    case 'ndjson':
      return readLines(body)
    case 'json-array':
      return readArray(body)
    default:
      framing satisfies never
      throw new Error('unknown framing')
  }
}

/** The media type that a request asks its upstream for. */
export function acceptFor(dialect: Dialect, stream: boolean, target: Target): string {
  return stream ? mediaTypes[dialect.framing(target)].received : 'application/json'
}

/** The media type by which a streamed answer is told from a whole one; undefined where none was asked for. */
export function streamedType(dialect: Dialect, stream: boolean, target: Target): string | undefined {
  return stream ? mediaTypes[dialect.framing(target)].received : undefined
}
