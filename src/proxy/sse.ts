/**
 * Server-sent events from bytes: strict UTF-8 across chunk borders, one event at a time, bounded. An event is complete
 * when its blank line has come; what network chunks look like says nothing.
 */
import type { Readable } from 'node:stream'
import { TextDecoder } from 'node:util'
import { createParser, type ParseError } from 'eventsource-parser'
import type { ServerSentEvent } from '../dialects/dialect.js'
import { Fault } from '../errors.js'

/** One event, or one line, may be this long, in UTF-16 units. */
const maxEventLength = 4 * 1024 * 1024
/** After the end marker an upstream has this long to close its answer properly, so that the connection can be kept. */
const lingerMs = 1000

/**
 * @throws Fault `upstream_error` for bytes that are not UTF-8 and lines that are no field of an event; the stream's own
 * error where the connection breaks
 */
export async function* readEvents(body: Readable): AsyncGenerator<ServerSentEvent, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let events: ServerSentEvent[] = []
  let failure: Fault | undefined
  const parser = createParser({
    maxBufferSize: maxEventLength,
    onEvent: (event) => events.push(event),
    onError: (error: ParseError) => {
      // A bad `retry` delays nobody here. Anything else is no event stream.
      if (error.type !== 'invalid-retry') failure = unreadable(error.type)
    }
  })
  let ended = false
  try {
    // Not destroyed on return: see `finish`.
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      parser.feed(decode(decoder, chunk))
      if (failure !== undefined) throw failure
      const ready = events
      events = []
      yield* ready
    }
    // A last event without its blank line is taken if it is whole; a cut one does not parse and is refused as such.
    parser.feed(`${decode(decoder)}\n\n`)
    if (failure !== undefined) throw failure
    ended = true
    yield* events
  } finally {
    if (!ended) finish(body)
  }
}

function decode(decoder: TextDecoder, chunk?: Buffer): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
  } catch {
    throw unreadable('not UTF-8')
  }
}

function unreadable(internal: string): Fault {
  return new Fault('upstream_error', { internal: `event stream: ${internal}` })
}

/** Reads off what little an upstream may still send after its end marker; a long tail is cut with the connection. */
function finish(body: Readable): void {
  if (body.destroyed || body.readableEnded) return
  body.on('error', () => {})
  const timer = setTimeout(() => body.destroy(), lingerMs)
  timer.unref()
  body.once('close', () => clearTimeout(timer))
  body.resume()
}
