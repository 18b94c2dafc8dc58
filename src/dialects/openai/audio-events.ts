/** Streams of the audio API: named events of a few types, each with fields of its own, the last of which ends the stream. */
import type { JsonObject } from '../../base/chat.js'
import type { TurnFacts } from '../dialect.js'
import { type StreamShape, type StreamSink, unreadable } from '../reply-stream.js'
import { type Fields, readFields, type Taker, walked, word } from '../taken.js'
import { denied } from './errors.js'
import { dataFrame, endMarker } from './frames.js'
import { names } from './names.js'

export type ToSink = { sink: StreamSink }

/** The `type` field of every event. */
export const eventType: Taker<ToSink> = (value, { sink }, place) => word(value, sink.rest, place)

export interface AudioEvents {
  /** By an event's type, the fields that it uses. */
  events: Readonly<Record<string, Fields<ToSink>>>
  /** The type of the last one. */
  last: string
  /** Whether the last event repeats the whole text. */
  repeats: boolean
  forgetTokens?(event: JsonObject): void
}

export class AudioEventsShape implements StreamShape {
  readonly names = names
  readonly endMarker = endMarker
  readonly frame = dataFrame
  readonly repeats: boolean
  /** Only the last event ends it; anything after it is ignored. */
  readonly complete = false
  readonly #told: AudioEvents

  constructor(told: AudioEvents) {
    this.#told = told
    this.repeats = told.repeats
  }

  read(event: JsonObject, sink: StreamSink, name: string | undefined): 'more' | 'end' {
    const { events, last } = this.#told
    if (typeof event.type !== 'string' || !Object.hasOwn(events, event.type)) {
      throw unreadable('an event of an unknown type')
    }
    if (name !== undefined && name !== event.type) throw unreadable('the name and the type of an event differ')
    readFields(events[event.type]!, event, '', { sink }, walked(sink.rest, 'assistant'))
    return event.type === last ? 'end' : 'more'
  }

  left(): void {}

  forgetTokens(event: JsonObject): void {
    this.#told.forgetTokens?.(event)
  }

  /** There is no room for a sentence: the last event is the error, at which the SDKs throw. */
  filtered({ denial, requestId }: TurnFacts): string {
    return dataFrame(denied(denial, requestId))
  }

  end(): string {
    return ''
  }
}
