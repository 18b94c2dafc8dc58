/**
 * The events of streamed speech (platform.openai.com/docs/api-reference/audio/speech-audio-delta-event): pieces of
 * sound in base64, which pass as the sound of a plain answer does, and the counts at the end. All other fields are
 * judged.
 */
import { isPieceOfMedia } from '../media.js'
import { type AudioEvents, eventType } from '../openai/audio-events.js'
import { string } from '../taken.js'

export const speechEvents: AudioEvents = {
  events: {
    'speech.audio.delta': {
      type: eventType,
      audio: string((value, { sink }, { holder, name }) => {
        if (!isPieceOfMedia(value, 'audio')) sink.delta('/audio', holder, name)
      })
    },
    'speech.audio.done': { type: eventType }
  },
  last: 'speech.audio.done',
  repeats: false
}
