/** The events of a streamed answer, from the bytes of its upstream: one reader for each framing. */
import { Readable } from 'node:stream'
import { TextDecoder } from 'node:util'
import { createParser, type ParseError } from 'eventsource-parser'
import { Fault } from '../../base/errors.js'
import type { Framing } from '../../dialects/dialect.js'
import { BadMessage, type EventMessage, MessageReader } from '../../dialects/event-stream.js'
import type { WireEvent } from '../../dialects/reply-stream.js'
import { decodeStream } from '../../edge/body.js'
import type { Exchange } from '../exchange.js'
import { codingOf, discard, type UpstreamAnswer } from '../upstream/send.js'

/**
 * The events of a body, independent of its network chunks. Events that arrive together are yielded together, so that
 * one verdict judges them.
 * @throws Fault `upstream_error` for bytes that are not of the framing; the stream's own error where the connection
 * breaks
 */
export function readWire(framing: Framing, body: Readable): AsyncGenerator<readonly WireEvent[], void, undefined> {
  switch (framing) {
    case 'sse':
      return readEvents(body)
    case 'ndjson':
      return readLines(body)
    case 'json-array':
      return readArray(body)
    case 'aws-event-stream':
      return readMessages(body)
    default:
      framing satisfies never
      throw new Error('unknown framing')
  }
}

/** Source of an answer's events. */
export interface Source {
  framing: Framing
  /** Batches: events that arrived together. */
  events: AsyncGenerator<readonly WireEvent[], void, undefined>
  /** The credential that was used: never shown to a client. */
  key: string | undefined
  /** True where events without text leave at once: a person listens to their sound. */
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
    isLive: route.spoken.answersWithSound === true,
    close(ended) {
      // After the end marker the connection may close by itself; without the marker it is cut.
      if (!ended) discard(body)
      events.return().catch(() => {})
    }
  }
}

/** One event, or one line, may be this long, in UTF-16 units. */
const maxEventLength = 4 * 1024 * 1024
/**
 * Bytes that are decoded to events at a time. A parsed event takes many times its bytes: for a slow client everything
 * beyond this stays bytes, and of a fast stream no more than this is parsed in one turn of the loop.
 */
const pieceLength = 4096
/** After the end marker an upstream has this long to close its answer properly, so that the connection can be kept. */
const lingerMs = 1000

/**
 * The bytes of a streamed answer in small pieces, independent of its network chunks.
 * @throws the stream's own error where the connection breaks
 */
async function* readPieces(body: Readable): AsyncGenerator<Buffer, void, undefined> {
  let ended = false
  try {
    // Not destroyed on return: see `finish`.
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length; at += pieceLength) yield chunk.subarray(at, at + pieceLength)
    }
    ended = true
  } finally {
    if (!ended) finish(body)
  }
}

/**
 * The same as text: strict UTF-8 across the borders of the pieces.
 * @throws Fault `upstream_error` for bytes that are not UTF-8, and as `readPieces`
 */
async function* readText(body: Readable): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const piece of readPieces(body)) {
    const text = decode(decoder, piece)
    if (text !== '') yield text
  }
  const rest = decode(decoder)
  if (rest !== '') yield rest
}

function decode(decoder: TextDecoder, chunk?: Buffer): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
  } catch {
    throw unreadableStream('not UTF-8')
  }
}

function unreadableStream(internal: string): Fault {
  return new Fault('upstream_error', { internal: `stream: ${internal}` })
}

/** Drains the few bytes that an upstream may send after its end marker; a long tail is cut with the connection. */
function finish(body: Readable): void {
  if (body.destroyed || body.readableEnded) return
  body.on('error', () => {})
  const timer = setTimeout(() => body.destroy(), lingerMs)
  timer.unref()
  body.once('close', () => clearTimeout(timer))
  body.resume()
}

/**
 * Server-sent events (WHATWG HTML, section 9.2): an event is complete when its blank line has come.
 * @throws Fault `upstream_error` for lines that are no field of an event, and as `readText`
 */
async function* readEvents(body: Readable): AsyncGenerator<readonly WireEvent[], void, undefined> {
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

/**
 * One JSON value per line (github.com/ndjson/ndjson-spec); empty lines say nothing.
 * @throws Fault `upstream_error` for a line that is too long, and as `readText`
 */
async function* readLines(body: Readable): AsyncGenerator<readonly WireEvent[], void, undefined> {
  let pieces: string[] = []
  let length = 0
  for await (const text of readText(body)) {
    const events: WireEvent[] = []
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      pieces.push(text.slice(start, end))
      start = end + 1
      const line = pieces.join('')
      pieces = []
      length = 0
      if (line.trim() !== '') events.push({ data: line })
    }
    if (events.length > 0) yield events
    pieces.push(text.slice(start))
    length += text.length - start
    if (length > maxEventLength) throw unreadableStream('a line is too long')
  }
  // A last line without its end is taken if it is whole; a cut one does not parse and is refused as such.
  const line = pieces.join('')
  if (line.trim() !== '') yield [{ data: line }]
}

/**
 * Messages of AWS's event stream, each an event under its name.
 * @throws Fault `upstream_error` for bytes that are no such message, for exceptions, for a message that is cut off, and as
 * `readPieces`
 */
async function* readMessages(body: Readable): AsyncGenerator<readonly WireEvent[], void, undefined> {
  const reader = new MessageReader(maxEventLength)
  for await (const piece of readPieces(body)) {
    const events = feed(reader, piece).map(eventOf)
    if (events.length > 0) yield events
  }
  if (!reader.isComplete) throw unreadableStream('a message is cut off')
}

function feed(reader: MessageReader, piece: Buffer): EventMessage[] {
  try {
    return reader.feed(piece)
  } catch (error) {
    throw error instanceof BadMessage ? unreadableStream(error.message) : error
  }
}

const eventName = /^[A-Za-z]{1,64}$/

function eventOf({ headers, payload }: EventMessage): WireEvent {
  const { ':message-type': kind, ':event-type': name, ':content-type': type = 'application/json' } = headers
  if (kind !== 'event') throw unreadableStream('a message that is no event')
  if (name === undefined || !eventName.test(name)) throw unreadableStream('an event without a name')
  if (type !== 'application/json') throw unreadableStream('an event that is not JSON')
  return { event: name, data: payload }
}

const whitespace = /[ \t\r\n]/

/**
 * A JSON array whose elements come one by one, as `streamGenerateContent` sends it without `alt=sse`. Cuts it at the commas between its elements; what an element holds is the business of the strict reader.
 * @throws Fault `upstream_error` for anything that is no array, or ends before its bracket, and as `readText`
 */
async function* readArray(body: Readable): AsyncGenerator<readonly WireEvent[], void, undefined> {
  const cutter = new ArrayCutter()
  for await (const text of readText(body)) {
    const events = cutter.feed(text).map((data) => ({ data }))
    if (events.length > 0) yield events
  }
  if (!cutter.isComplete) throw unreadableStream('the array has no end')
}

class ArrayCutter {
  #state: 'before' | 'inside' | 'after' = 'before'
  #depth = 0
  #inString = false
  #escaped = false
  #element: string[] = []
  #length = 0

  get isComplete(): boolean {
    return this.#state === 'after'
  }

  /** @returns the elements that this text completes */
  feed(text: string): string[] {
    const out: string[] = []
    let start = 0
    for (let i = 0; i < text.length; i++) {
      const character = text[i]!
      if (this.#inString) {
        this.#readString(character)
      } else if (this.#state !== 'inside') {
        this.#readOutside(character)
        start = i + 1
      } else if (character === '"') {
        this.#inString = true
      } else if (character === '{' || character === '[') {
        this.#depth++
      } else if (this.#depth > 0) {
        if (character === '}' || character === ']') this.#depth--
      } else if (character === ',' || character === ']') {
        this.#keep(text.slice(start, i))
        start = i + 1
        this.#finish(out, character === ']')
      }
    }
    this.#keep(text.slice(start))
    return out
  }

  #readString(character: string): void {
    if (this.#escaped) this.#escaped = false
    else if (character === '\\') this.#escaped = true
    else if (character === '"') this.#inString = false
  }

  #readOutside(character: string): void {
    if (whitespace.test(character)) return
    if (this.#state === 'after' || character !== '[') throw unreadableStream('not an array')
    this.#state = 'inside'
  }

  #keep(text: string): void {
    if (text === '') return
    this.#element.push(text)
    this.#length += text.length
    if (this.#length > maxEventLength) throw unreadableStream('an element is too long')
  }

  #finish(out: string[], isLast: boolean): void {
    const element = this.#element.join('').trim()
    this.#element = []
    this.#length = 0
    if (isLast) this.#state = 'after'
    // An empty array has no element; an empty place between commas is no JSON, as the strict reader will say.
    if (element !== '' || !isLast) out.push(element)
  }
}
