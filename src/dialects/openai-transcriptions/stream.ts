/**
 * The events of a streamed transcription (platform.openai.com/docs/api-reference/audio/transcript-text-delta-event): pieces of
 * one text, the segments of speakers, and the whole text at the end.
 */
import { type AudioEvents, eventType, type ToSink } from '../openai/audio-events.js'
import { any, string, type Taker } from '../taken.js'
import { tokenTexts } from '../tokens.js'
import { forgetTranscriptTokens } from './reply.js'

const tokens: Taker<ToSink> = any((value, { sink }, { at }) => {
  for (const text of tokenTexts(value, sink.rest, 'assistant', at)) sink.tokens(at, text)
})

export const transcriptEvents: AudioEvents = {
  events: {
    'transcript.text.delta': {
      type: eventType,
      delta: string((_value, { sink }, { holder, name }) => sink.delta('/text', holder, name)),
      logprobs: tokens
    },
    // Consecutive segments of speakers are also joined.
    'transcript.text.segment': {
      type: eventType,
      text: string((_value, { sink }, { holder, name }) => sink.delta('/segments', holder, name))
    },
    'transcript.text.done': {
      type: eventType,
      text: string((_value, { sink }, { holder, name }) => sink.repeat('/text', holder, name)),
      logprobs: tokens
    }
  },
  last: 'transcript.text.done',
  repeats: true,
  forgetTokens: forgetTranscriptTokens
}
