/** Server-sent events (WHATWG HTML, section 9.2): an event is complete when its blank line has come. */
import type { Readable } from 'node:stream'
import { createParser, type ParseError } from 'eventsource-parser'
import type { Fault } from '../base/errors.js'
import type { WireEvent } from '../dialects/reply-stream.js'
import { maxEventLength, readText, unreadableStream } from './text-chunks.js'

/** @throws Fault `upstream_error` for lines that are no field of an event, and as `readText` */
export async function* readEvents(body: Readable): AsyncGenerator<readonly WireEvent[], void, undefined> {
  let events: WireEvent[] = []
  let failure: Fault | undefined
  const parser = createParser({
    maxBufferSize: maxEventLength,
    onEvent: (event) => events.push(event),
    onError: (error: ParseError) => {
      // A bad `retry` delays nobody here. Anything else is no event stream.
      if (error.type !== 'invalid-retry') failure = unreadableStream(error.type)
    }
  })
  for await (const text of readText(body)) {
    parser.feed(text)
    if (failure !== undefined) throw failure
    if (events.length === 0) continue
    const ready = events
    events = []
    yield ready
  }
  // A last event without its blank line is taken if it is whole; a cut one does not parse and is refused as such.
  parser.feed('\n\n')
  if (failure !== undefined) throw failure
  if (events.length > 0) yield events
}
