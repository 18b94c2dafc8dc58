/**
 * The events of one response of a session, or a single event that belongs to none. Increments continue the text of an
 * item; `done` events, finished parts and items and `response.done` repeat each text as a whole.
 */
import type { JsonObject } from '../../base/chat.js'
import type { TurnFacts } from '../dialect.js'
import { isPieceOfMedia } from '../media.js'
import type { Leaf, LeafKind } from '../openai-responses/items.js'
import { readPrompt } from '../openai-responses/request.js'
import { leafOf, spelledFields, stemOf } from '../openai-responses/spelling.js'
import { type HeardSound, type StreamShape, type StreamSink, unreadable } from '../reply-stream.js'
import { isObject, pointerSegment } from '../rewrite.js'
import { HeardEvents } from '../sound.js'
import { type Fields, index, indexOf, object, ofRest, readFields, type Taker, walked, wordsOf } from '../taken.js'
import { readItem, readPart } from './items.js'
import { names } from './names.js'
import { SeenRealtimeResponse } from './seen.js'
import { denialError, writeEvent } from './write.js'

const typePattern = /^[a-z][a-z0-9_.]{0,127}$/

interface TextPlace {
  key: string
  kind: LeafKind
  /** Whether it lies in a part of the item's content, not in the item itself. */
  inPart: boolean
}

/** By the event's type without its `.delta` or `.done`; those without `output_` are the names of the API's beta. */
const textPlaces: Readonly<Record<string, TextPlace | undefined>> = {
  'response.output_text': { key: 'text', kind: 'text', inPart: true },
  'response.text': { key: 'text', kind: 'text', inPart: true },
  'response.output_audio_transcript': { key: 'transcript', kind: 'text', inPart: true },
  'response.audio_transcript': { key: 'transcript', kind: 'text', inPart: true },
  'response.function_call_arguments': { key: 'arguments', kind: 'arguments', inPart: false },
  'response.mcp_call_arguments': { key: 'arguments', kind: 'arguments', inPart: false }
}

export const audioDeltas: ReadonlySet<string> = new Set(['response.output_audio.delta', 'response.audio.delta'])
const audioEnds: ReadonlySet<string> = new Set(['response.output_audio.done', 'response.audio.done'])

interface To {
  sink: StreamSink
  leaf: Leaf
  event: JsonObject
}

/** Fields of an event beside its text. */
const eventFields: Fields<To> = {
  output_index: index,
  content_index: index,
  item: object((value, { sink, leaf, event }) => {
    readItem(sink.rest, value, 'assistant', placeOf(event), leaf)
  }),
  part: object((value, { sink, leaf, event }) => {
    readPart(sink.rest, value, 'assistant', partOf(event), leaf)
  }),
  response: object((value, { sink, leaf }) => readResponse(sink.rest, value, leaf)),
  session: object((value, { sink }) => readSession(sink.rest, value)),
  error: ofRest(wordsOf('assistant'))
}

/** The event that ends the stream: the last one of a response, any one, or none. */
export type Until = 'response.done' | 'one' | 'never'

export class RealtimeStreamShape implements StreamShape {
  readonly names = names
  readonly endMarker = undefined
  readonly repeats = true
  readonly complete: boolean
  /** True once it was ended as filtered. */
  isFiltered = false
  readonly #until: Until
  readonly #nextId: () => string
  readonly #seen = new SeenRealtimeResponse()
  #id: string | undefined
  #sounds = 0
  readonly #heard = new HeardEvents()

  /** @param nextId names the events that leave, since the upstream's names could contain any text */
  constructor(until: Until, nextId: () => string) {
    this.#until = until
    this.#nextId = nextId
    this.complete = until === 'never'
  }

  read(event: JsonObject, sink: StreamSink, _name?: string, heard?: HeardSound): 'more' | 'end' {
    const { type } = event
    if (typeof type !== 'string' || !typePattern.test(type)) throw unreadable('an event has no type')
    delete event.event_id
    delete event.obfuscation
    sink.rest.word('parameter', type, '/type')
    const isLast = type === 'response.done'
    if (type === 'response.created' && isObject(event.response) && typeof event.response.id === 'string') {
      this.#id ??= event.response.id
    }
    const leaf = leafOf(sink, /\.(?:done|retrieved|completed)$/.test(type) ? 'repeat' : 'delta')
    const to = { sink, leaf, event }
    readFields(
      { ...eventFields, ...this.#textFields(event, type, heard) },
      event,
      '',
      to,
      walked(sink.rest, 'parameter')
    )
    if (audioEnds.has(type)) sink.close(`${partOf(event)}/audio/`)
    if (type === 'response.output_item.done') sink.close(`${placeOf(event)}/`)
    if (isLast || this.#until === 'one') sink.close('')
    return this.#until === 'one' || (isLast && this.#until === 'response.done') ? 'end' : 'more'
  }

  /** The string that continues or repeats a text. */
  #textFields(event: JsonObject, type: string, heard: HeardSound | undefined): Fields<To> {
    const part = partOf(event)
    const place = textPlaces[stemOf(type)]
    const spelled = spelledFields<To>(type, { part, holder: place?.inPart ? part : placeOf(event), place })
    if (!audioDeltas.has(type)) return spelled
    const sound: Taker<To> = (value, { sink }) => {
      if (typeof value !== 'string') return false
      if (heard !== undefined) this.#heard.take(event, heard, sink, `${part}/audio/heard`)
      // Each by itself, so that each that passes is counted.
      else sink.media(`${part}/audio/${this.#sounds++}`, 'audio')
      return isPieceOfMedia(value, 'audio')
    }
    return { ...spelled, delta: sound }
  }

  frame(event: JsonObject): string {
    const pieces = this.#heard.pieces(event, event.delta as string)
    if (pieces === undefined) return writeEvent(event, this.#nextId)
    return pieces.map((delta) => writeEvent({ ...event, delta }, this.#nextId)).join('')
  }

  left(event: JsonObject): void {
    this.#seen.add(event)
  }

  forgetTokens(event: JsonObject): void {
    if (event.logprobs !== undefined) event.logprobs = []
  }

  filtered(facts: TurnFacts): string {
    this.isFiltered = true
    const events =
      this.#until === 'response.done'
        ? this.#seen.close(facts, this.#idOf(facts))
        : [denialError(facts.denial, undefined)]
    return events.map((event) => writeEvent(event, this.#nextId)).join('')
  }

  /** The upstream's name for the response, which the client waits for, unless the name itself is the offending text. */
  #idOf({ denial }: TurnFacts): string {
    const isBlamed = denial.evaluation.detections.some(({ pointer }) => /^\/response(?:_id|\/id)/.test(pointer ?? ''))
    return this.#id === undefined || isBlamed ? this.#nextId().replace('event', 'resp') : this.#id
  }

  end(): string {
    return ''
  }
}

/** The item that an event is about, by the upstream's name for it. */
function placeOf({ item_id: id, item, output_index: index = null }: JsonObject): string {
  const known = isObject(item) ? item.id : id
  return `/items/${typeof known === 'string' ? pointerSegment(known) : `output ${indexOf({ index }, 'index') ?? 'unknown'}`}`
}

function partOf(event: JsonObject): string {
  return `${placeOf(event)}/content/${indexOf(event, 'content_index') ?? 'unknown'}`
}

function readResponse(out: StreamSink['rest'], response: JsonObject, leaf: Leaf): void {
  const { output } = response
  if (Array.isArray(output)) {
    for (const item of output) {
      if (isObject(item)) readItem(out, item, 'assistant', placeOf({ item }), leaf)
      else out.walk('assistant', item, '/response/output')
    }
  } else out.walk('assistant', output, '/response/output')
  out.rest('parameter', response, '/response', new Set(['output']))
}

/** Reads the settings of a session that the API repeats. */
function readSession(out: StreamSink['rest'], session: JsonObject): void {
  out.walk('system', session.instructions, '/session/instructions')
  out.walk('definition', session.tools, '/session/tools')
  readPrompt(out, session.prompt, '/session/prompt')
  out.rest('parameter', session, '/session', new Set(['instructions', 'tools', 'prompt']))
}
