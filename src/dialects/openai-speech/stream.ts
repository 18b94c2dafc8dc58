/**
 * The events of streamed speech (platform.openai.com/docs/api-reference/audio/speech-audio-delta-event): pieces of sound in
 * base64, which pass as the sound of a plain answer does, and the counts at the end. Whatever else they say is judged.
 */
import type { JsonObject } from '../../base/chat.js'
import type { TurnFacts } from '../dialect.js'
import { isPieceOfMedia } from '../media.js'
import { denied } from '../openai/errors.js'
import { dataFrame, endMarker } from '../openai/frames.js'
import { names } from '../openai/names.js'
import { type StreamShape, type StreamSink, unreadable } from '../reply-stream.js'
import { type Fields, readFields, string, type Taker, walked, word } from '../taken.js'

type To = { sink: StreamSink }

const type: Taker<To> = (value, { sink }, place) => word(value, sink.rest, place)
/** By an event's type, the fields that it uses. */
const events: Readonly<Record<string, Fields<To>>> = {
  'speech.audio.delta': {
    type,
    audio: string((value, { sink }, { holder, name }) => {
      if (!isPieceOfMedia(value, 'audio')) sink.delta('/audio', holder, name)
    })
  },
  'speech.audio.done': { type }
}

export class SpeechStreamShape implements StreamShape {
  readonly names = names
  readonly endMarker = endMarker
  readonly frame = dataFrame
  readonly repeats = false
  /** Its last event ends it; what some servers send behind it says nothing. */
  readonly complete = false

  read(event: JsonObject, sink: StreamSink, name: string | undefined): 'more' | 'end' {
    if (typeof event.type !== 'string' || !Object.hasOwn(events, event.type)) {
      throw unreadable('an event of an unknown type')
    }
    if (name !== undefined && name !== event.type) throw unreadable('the name and the type of an event differ')
    readFields(events[event.type]!, event, '', { sink }, walked(sink.rest, 'assistant'))
    return event.type === 'speech.audio.done' ? 'end' : 'more'
  }

  left(): void {}

  forgetTokens(): void {}

  /** There is no room for a sentence: the last event is the error, at which the SDKs throw. */
  filtered({ denial, requestId }: TurnFacts): string {
    return dataFrame(denied(denial, requestId))
  }

  end(): string {
    return ''
  }
}
