/**
 * The events of a streamed response. Increments continue the text of an item; `done` events, finished parts and items
 * and the last event repeat each text as a whole; all other fields are judged once.
 */
import type { JsonObject } from '../../base/chat.js'
import type { TurnFacts } from '../dialect.js'
import { failureOf, type StreamFailure } from '../failure.js'
import { isPieceOfMedia } from '../media.js'
import { names } from '../openai/names.js'
import { type Pushed, type StreamShape, type StreamSink, unreadable } from '../reply-stream.js'
import { isObject } from '../rewrite.js'
import { type Fields, index, indexOf, number, object, readFields, type Taker, walked } from '../taken.js'
import { terminal, textPlaces } from './events.js'
import { type Leaf, readItem, readItemPart } from './items.js'
import { forgetItemTokens, forgetTokens, readResponse } from './reply.js'
import { SeenResponse } from './seen.js'
import { leafOf, spelledFields, stemOf } from './spelling.js'
import { eventFrame, filteredStream } from './write.js'

/** It becomes a line of its own. */
const typePattern = /^[a-z][a-z0-9_.]{0,127}$/

/** The target of an event. */
interface To {
  sink: StreamSink
  leaf: Leaf
  /** The item and the part that it names. */
  at: string
  part: string
}

/** Fields of an event beside its text. */
const eventFields: Fields<To> = {
  output_index: index,
  content_index: index,
  summary_index: index,
  annotation_index: index,
  sequence_number: number,
  response: object((value, { sink, leaf }) => readResponse(sink.rest, value, leaf)),
  item: object((value, { sink, leaf, at }) => {
    readItem(sink.rest, value, 'assistant', at, undefined, leaf)
  }),
  part: object((value, { sink, leaf, part }) => {
    readItemPart(sink.rest, value, 'assistant', part, leaf)
  })
}
/** Media in pieces: pictures on the way, spoken answers. */
const dataFields: Readonly<Record<string, { key: string; kind: 'image' | 'audio' }>> = {
  'response.image_generation_call.partial_image': { key: 'partial_image_b64', kind: 'image' },
  'response.audio.delta': { key: 'delta', kind: 'audio' }
}

export class ResponseStreamShape implements StreamShape {
  readonly names = names
  /** None: the last event ends the stream, and anything after it is ignored. */
  readonly endMarker = undefined
  readonly repeats = true
  readonly complete = false
  answerId: string | undefined
  failure: StreamFailure | undefined
  readonly #seen = new SeenResponse()

  read(event: JsonObject, sink: StreamSink): Pushed {
    const { type } = event
    if (typeof type !== 'string' || !typePattern.test(type)) throw unreadable('an event has no type')
    if (type === 'error') {
      this.failure = failureIn(event)
      return 'failed'
    }
    // Padding against size analysis: useless where frames are held back, and noise to judge.
    delete event.obfuscation
    sink.rest.word('parameter', type, '/type')
    const isLast = terminal.has(type)
    // Announced items begin a text, finished ones repeat it.
    const leaf = leafOf(sink, isLast || type.endsWith('.done') ? 'repeat' : 'delta')
    if (isObject(event.response) && typeof event.response.id === 'string') this.answerId ??= event.response.id
    const at = `/output/${indexOf(event, 'output_index') ?? 'unknown'}`
    const list = type.includes('summary') ? 'summary' : 'content'
    const part = `${at}/${list}/${indexOf(event, `${list}_index`) ?? 'unknown'}`
    const to = { sink, leaf, at, part }
    readFields({ ...eventFields, ...textFields(type, to) }, event, '', to, walked(sink.rest, 'parameter'))
    if (type === 'response.output_item.done') sink.close(`${at}/`)
    if (isLast) sink.close('')
    return isLast ? 'end' : 'more'
  }

  frame(event: JsonObject): string {
    return eventFrame(event)
  }

  left(event: JsonObject): void {
    this.#seen.add(event)
  }

  forgetTokens(event: JsonObject): void {
    if (event.logprobs !== undefined) event.logprobs = []
    if (isObject(event.part)) forgetItemTokens({ content: [event.part] })
    if (isObject(event.item)) forgetItemTokens(event.item)
    if (isObject(event.response)) forgetTokens(event.response)
  }

  filtered(facts: TurnFacts, started: boolean): string {
    return started ? this.#seen.close(facts) : filteredStream(facts)
  }

  end(): string {
    return ''
  }
}

/** The fields of the error stand at the top of its event, or in one of their own. */
function failureIn(event: JsonObject): StreamFailure {
  const { code = null, message = null, param = null } = event
  const error = isObject(event.error) ? event.error : { message, type: code ?? 'server_error', param, code }
  return failureOf(error, event, { error })
}

/** The string that continues or repeats a text, by the event's type. */
function textFields(type: string, { at, part }: To): Fields<To> {
  const data = dataFields[type]
  const place = textPlaces[stemOf(type)]
  const spelled = spelledFields(type, { part, holder: place?.list ? part : at, place })
  if (data === undefined) return spelled
  const media: Taker<To> = (value, { sink }) => {
    if (typeof value !== 'string') return false
    sink.media(`${at}/${data.key}`, data.kind)
    return isPieceOfMedia(value, data.kind)
  }
  return { ...spelled, [data.key]: media }
}
