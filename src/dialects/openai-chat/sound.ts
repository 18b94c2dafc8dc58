/**
 * Finds the sound in the chunks of a spoken answer: base64 in `delta.audio.data`, in the request's sample format
 * (platform.openai.com/docs/guides/audio).
 */
import { isBase64 } from '../../base/base64.js'
import type { Json, JsonObject } from '../../base/chat.js'
import { endMarker } from '../openai/frames.js'
import type { WireEvent } from '../reply-stream.js'
import { isObject } from '../rewrite.js'
import { parseEvent, type SoundFormat, type SoundStep, type SpelledSound } from '../sound.js'
import { indexOf } from '../taken.js'

/** The only format that the API streams. */
const pcm16: SoundFormat = { coding: 'pcm', rate: 24_000 }
/** Fields of a chunk beside its choices, equal in each chunk. */
const headFields = ['id', 'object', 'created', 'model', 'system_fingerprint', 'service_tier']

/** @returns undefined where the request asks for no sound that can be transcribed */
export function spelledSound(request: JsonObject): SpelledSound | undefined {
  return sampleFormat(request, '') === undefined ? undefined : new ChunkSound()
}

/** The request, not the answer, names the format of the sound. */
export function sampleFormat({ audio }: JsonObject, claim: string): SoundFormat | undefined {
  return claim === '' && isObject(audio) && audio.format === 'pcm16' ? pcm16 : undefined
}

class ChunkSound implements SpelledSound {
  take(event: WireEvent): SoundStep[] {
    if (event.data === endMarker) return [{ ends: 'all' }, { event }]
    const chunk = event.event === undefined ? parseEvent(event.data) : undefined
    if (chunk === undefined || !Array.isArray(chunk.choices)) return [{ event }]
    const sounds: SoundStep[] = []
    const ends: SoundStep[] = []
    for (const [position, choice] of chunk.choices.entries()) {
      if (!isObject(choice)) continue
      const place = String(indexOf(choice, 'index') ?? position)
      const bytes = takeBytes(choice)
      if (bytes !== undefined) {
        const head = Object.fromEntries(headFields.flatMap((name) => (name in chunk ? [[name, chunk[name]!]] : [])))
        sounds.push({ place, format: pcm16, bytes, write: (data) => JSON.stringify(chunkOf(head, choice, data)) })
      }
      if (typeof choice.finish_reason === 'string') ends.push({ ends: place })
    }
    if (sounds.length === 0) return [...ends, { event }]
    const rest: SoundStep[] = saysNothing(chunk) ? [] : [{ event: { data: JSON.stringify(chunk) } }]
    return [...sounds, ...ends, ...rest]
  }
}

/** Removes and returns the sound of a choice. Any other value in its place stays, and is judged there. */
function takeBytes({ delta }: JsonObject): Buffer | undefined {
  const audio = isObject(delta) ? delta.audio : undefined
  if (!isObject(audio) || typeof audio.data !== 'string' || !isBase64(audio.data)) return undefined
  const bytes = Buffer.from(audio.data, 'base64')
  delete audio.data
  return bytes
}

function chunkOf(head: JsonObject, { index }: JsonObject, data: string): JsonObject {
  const place = typeof index === 'number' ? { index } : {}
  return { ...head, choices: [{ ...place, delta: { audio: { data } }, finish_reason: null }] }
}

/** Whether a chunk is empty once its sound was removed. */
function saysNothing({ choices, ...head }: JsonObject): boolean {
  return (
    isBare(head, headFields) &&
    (choices as Json[]).every((choice) => {
      if (!isObject(choice) || !isObject(choice.delta)) return false
      const { index: _, delta, ...more } = choice
      const { audio, ...words } = delta as JsonObject
      return isBare(more) && isBare(words) && isObject(audio) && isBare(audio)
    })
  )
}

/** Whether every field is null, or named, or padding. */
function isBare(value: JsonObject, named: readonly string[] = []): boolean {
  return Object.entries(value).every(([name, each]) => each === null || name === 'obfuscation' || named.includes(name))
}
