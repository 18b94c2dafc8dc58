/**
 * The sound of one response, where its route has it scanned: its increments wait until they are a piece that can be heard,
 * and go on as one event, with what was heard in it. The upstream's own transcript is judged too, and is not taken for what
 * the sound says: it may be missing, and it comes from the model that is being judged.
 */
import { isBase64 } from '../../base/base64.js'
import type { JsonObject } from '../../base/chat.js'
import { Fault } from '../../base/errors.js'
import { type SoundFormat, silentByte } from '../../dialects/openai-realtime/sound.js'
import { audioDeltas } from '../../dialects/openai-realtime/stream.js'
import type { WireEvent } from '../../dialects/reply-stream.js'
import { isObject } from '../../dialects/rewrite.js'
import { parseJson } from '../../json/parse.js'
import { type Ears, silenceOf } from './ears.js'
import { type Piece, Pieces } from './pieces.js'

/** What an increment is, beside its sound. Another field would have to be judged: such an event is not heard. */
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

/** Where sound stands in its response. */
interface Place {
  head: JsonObject
  id: string
  pieces: Pieces
  format: SoundFormat
}

/** An event as it came, and what it says that it is. */
export interface TypedEvent {
  type: string
  data: string
}

/** A piece that waits to be heard, or an event that goes on as it came. */
export type Due = { piece: Piece; place: Place } | WireEvent

export class HeardAnswer {
  readonly #ears: Ears
  #format: SoundFormat | undefined
  #place: Place | undefined

  constructor(ears: Ears) {
    this.#ears = ears
  }

  /** Takes an event. @returns what may be heard, and what may go on, by now */
  take({ type, data }: TypedEvent): Due[] {
    if (audioDeltas.has(type)) return this.#increment(data)
    // What a response says of its format, it says where it begins.
    if (type === 'response.created') this.#format = this.#formatBy(data)
    // Other increments belong to nothing that ends the sound.
    return type.endsWith('.delta') ? [{ data }] : [...this.#end(), { data }]
  }

  #increment(data: string): Due[] {
    const value = parse(data)
    this.#format ??= this.#formatBy(undefined)
    const delta = value?.delta
    const isHeard =
      value !== undefined &&
      this.#format !== undefined &&
      typeof delta === 'string' &&
      isBase64(delta) &&
      Object.keys(value).every((name) => fields.has(name))
    if (!isHeard) return [...this.#end(), { data }]
    const { delta: _, event_id: __, obfuscation: ___, ...head } = value
    const id = JSON.stringify([head.response_id, head.item_id, head.output_index, head.content_index])
    const before = this.#place?.id === id ? [] : this.#end()
    this.#place ??= { head, id, format: this.#format!, pieces: new Pieces(this.#format!) }
    const place = this.#place
    const pieces = Array.from(place.pieces.add(Buffer.from(delta, 'base64')), (piece) => ({ piece, place }))
    return [...before, ...pieces]
  }

  async hear({ piece, place: { head, format } }: Extract<Due, { piece: Piece }>): Promise<WireEvent> {
    const heard = await this.#ears.hear(piece, format).catch((error: unknown) => {
      // Nobody to hear it: the response ends as withheld, and the session goes on.
      if (error instanceof Fault) return { reason: 'too_slow' } as const
      throw error
    })
    const isUnheard = 'text' in heard && heard.text === ''
    const delta = isUnheard ? silenceOf(piece, format) : piece.bytes.toString('base64')
    const data = JSON.stringify({ ...head, delta })
    // What could not be heard is sound that nobody has judged.
    if (!('text' in heard)) return { data }
    // Between two pieces there is a pause.
    return { data, heard: { text: isUnheard ? '' : `${heard.text} `, silence: silentByte(format) } }
  }

  #end(): Due[] {
    const place = this.#place
    this.#place = undefined
    const piece = place?.pieces.flush()
    return piece === undefined ? [] : [{ piece, place: place! }]
  }

  #formatBy(data: string | undefined): SoundFormat | undefined {
    const response = data === undefined ? undefined : parse(data)?.response
    const told = this.#ears.outputFormat(isObject(response) ? response : undefined)
    return typeof told === 'object' ? told : undefined
  }
}

/** @returns undefined where whoever judges the event will say what is wrong with it */
function parse(data: string): JsonObject | undefined {
  try {
    const value = parseJson(data)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
