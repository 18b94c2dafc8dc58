/** Finds the sound in the events of a session's response, for `proxy/sound/answer-sound.ts`. */
import { isBase64 } from '../../base/base64.js'
import { audioDeltas } from '../../dialects/openai-realtime/stream.js'
import type { WireEvent } from '../../dialects/reply-stream.js'
import { isObject } from '../../dialects/rewrite.js'
import { parseEvent, type SoundFormat, type SoundStep, type SpelledSound } from '../../dialects/sound.js'
import type { Ears } from './ears.js'

/**
 * Fields of an increment beside its sound. An event with another field, which would have to be judged, is not
 * transcribed.
 */
const fields = new Set([
  'type',
  'event_id',
  'response_id',
  'item_id',
  'output_index',
  'content_index',
  'delta',
  'obfuscation'
])

/** An event as it came, with its type. */
export interface TypedEvent extends WireEvent {
  type: string
}

export class ResponseSound implements SpelledSound {
  readonly #ears: Ears
  #format: SoundFormat | undefined
  #place: string | undefined

  constructor(ears: Ears) {
    this.#ears = ears
  }

  take(event: TypedEvent): SoundStep[] {
    const { type, data } = event
    if (audioDeltas.has(type)) return this.#increment(data)
    // A response reports its format in its first event.
    if (type === 'response.created') this.#format = this.#formatBy(data)
    // Other increments do not end the sound.
    return type.endsWith('.delta') ? [{ event: { data } }] : [{ ends: 'all' }, { event: { data } }]
  }

  #increment(data: string): SoundStep[] {
    const value = parseEvent(data)
    this.#format ??= this.#formatBy(undefined)
    const delta = value?.delta
    const isHeard =
      value !== undefined &&
      this.#format !== undefined &&
      typeof delta === 'string' &&
      isBase64(delta) &&
      Object.keys(value).every((name) => fields.has(name))
    if (!isHeard) return [{ ends: 'all' }, { event: { data } }]
    const { delta: _, event_id: __, obfuscation: ___, ...head } = value
    const place = JSON.stringify([head.response_id, head.item_id, head.output_index, head.content_index])
    const before: SoundStep[] = this.#place === place ? [] : [{ ends: 'all' }]
    this.#place = place
    const write = (base64: string) => JSON.stringify({ ...head, delta: base64 })
    return [...before, { place, format: this.#format!, bytes: Buffer.from(delta, 'base64'), write }]
  }

  #formatBy(data: string | undefined): SoundFormat | undefined {
    const response = data === undefined ? undefined : parseEvent(data)?.response
    const told = this.#ears.outputFormat(isObject(response) ? response : undefined)
    return typeof told === 'object' ? told : undefined
  }
}
