/**
 * The events of a streamed transcription (platform.openai.com/docs/api-reference/audio/transcript-text-delta-event): pieces of
 * one text, the segments of speakers, and the whole text at the end.
 */
import type { JsonObject } from '../../base/chat.js'
import type { TurnFacts } from '../dialect.js'
import { denied } from '../openai/errors.js'
import { dataFrame, endMarker } from '../openai/frames.js'
import { names } from '../openai/names.js'
import { type StreamShape, type StreamSink, unreadable } from '../reply-stream.js'
import { any, type Fields, readFields, string, type Taker, walked, word } from '../taken.js'
import { tokenTexts } from '../tokens.js'
import { forgetTranscriptTokens } from './reply.js'

type To = { sink: StreamSink }

const type: Taker<To> = (value, { sink }, place) => word(value, sink.rest, place)
const tokens: Taker<To> = any((value, { sink }, { at }) => {
  for (const text of tokenTexts(value, sink.rest, 'assistant', at)) sink.tokens(at, text)
})

/** By an event's type, the fields that it uses. */
const events: Readonly<Record<string, Fields<To>>> = {
  'transcript.text.delta': {
    type,
    delta: string((_value, { sink }, { holder, name }) => sink.delta('/text', holder, name)),
    logprobs: tokens
  },
  // What speakers say one after the other: read as one too.
  'transcript.text.segment': {
    type,
    text: string((_value, { sink }, { holder, name }) => sink.delta('/segments', holder, name))
  },
  'transcript.text.done': {
    type,
    text: string((_value, { sink }, { holder, name }) => sink.repeat('/text', holder, name)),
    logprobs: tokens
  }
}

export class TranscriptStreamShape implements StreamShape {
  readonly names = names
  readonly endMarker = endMarker
  readonly frame = dataFrame
  readonly repeats = true
  /** Its last event ends it; what some servers send behind it says nothing. */
  readonly complete = false

  read(event: JsonObject, sink: StreamSink, name: string | undefined): 'more' | 'end' {
    if (typeof event.type !== 'string' || !Object.hasOwn(events, event.type)) {
      throw unreadable('an event of an unknown type')
    }
    if (name !== undefined && name !== event.type) throw unreadable('the name and the type of an event differ')
    readFields(events[event.type]!, event, '', { sink }, walked(sink.rest, 'assistant'))
    return event.type === 'transcript.text.done' ? 'end' : 'more'
  }

  left(): void {}

  forgetTokens(event: JsonObject): void {
    forgetTranscriptTokens(event)
  }

  /** There is no room for a sentence: the last event is the error, at which the SDKs throw. */
  filtered({ denial, requestId }: TurnFacts): string {
    return dataFrame(denied(denial, requestId))
  }

  end(): string {
    return ''
  }
}
