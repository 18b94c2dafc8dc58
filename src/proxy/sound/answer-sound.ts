/**
 * The sound of a streamed answer, of a chat or the Realtime API, on routes that scan it. Its increments are held until
 * they form a piece that can be transcribed, and leave as one event with the transcript. The upstream's own transcript
 * is judged too, but does not replace this one: it may be missing, and it comes from the judged model.
 */
import { setImmediate } from 'node:timers/promises'
import { Fault } from '../../base/errors.js'
import type { WireEvent } from '../../dialects/reply-stream.js'
import { type SoundFormat, type SoundStep, type SpelledSound, silentByte } from '../../dialects/sound.js'
import { type Ear, silenceOf } from './ear.js'
import { type Piece, SoundPieces } from './pieces.js'

/** Most places of one answer whose sound is held at once: sound of a further place stays untranscribed. */
const mostPlaces = 16
/** Bytes that are processed in one turn of the loop. */
const mostAtOnce = 256 * 1024

type Sound = Extract<SoundStep, { bytes: Buffer }>

interface Place {
  pieces: SoundPieces
  format: SoundFormat
  write: Sound['write']
}

export class HeardAnswer {
  readonly #ear: Pick<Ear, 'hear'>
  readonly #spelled: SpelledSound
  readonly #places = new Map<string, Place>()
  #seen = 0

  constructor(ear: Pick<Ear, 'hear'>, spelled: SpelledSound) {
    this.#ear = ear
    this.#spelled = spelled
  }

  /**
   * The events of some batches, with transcribed pieces in place of the increments of sound.
   * @param hearing called when a transcription begins and ends
   */
  async *events(
    batches: Iterable<readonly WireEvent[]> | AsyncIterable<readonly WireEvent[]>,
    hearing: (isHearing: boolean) => void = () => {}
  ): AsyncGenerator<readonly WireEvent[], void, undefined> {
    for await (const batch of batches) {
      let ready: WireEvent[] = []
      for (const step of batch.flatMap((event) => this.#spelled.take(event))) {
        for (const due of this.#take(step)) {
          if (!('piece' in due)) {
            ready.push(due)
            continue
          }
          if (ready.length > 0) yield ready
          hearing(true)
          ready = [await this.#hear(due)]
          hearing(false)
        }
      }
      if (ready.length > 0) yield ready
    }
  }

  /** The events of a whole stream, with the unfinished pieces at its end. */
  async *all(batches: AsyncIterable<readonly WireEvent[]>): AsyncGenerator<readonly WireEvent[], void, undefined> {
    yield* this.events(batches)
    for (const due of this.#end('all')) yield [await this.#hear(due)]
  }

  *#take(step: SoundStep): Generator<{ piece: Piece; place: Place } | WireEvent, void, undefined> {
    if ('event' in step) yield step.event
    else if ('ends' in step) yield* this.#end(step.ends)
    else yield* this.#add(step)
  }

  *#add({ place: name, format, bytes, write }: Sound): Generator<{ piece: Piece; place: Place } | WireEvent> {
    let place = this.#places.get(name)
    if (place !== undefined && !isSame(place.format, format)) {
      yield* this.#end(name)
      place = undefined
    }
    if (place === undefined) {
      // The stage that judges the event denies untranscribed sound.
      if (this.#places.size >= mostPlaces) return yield { data: write(bytes.toString('base64')) }
      place = { pieces: new SoundPieces(format), format, write }
      this.#places.set(name, place)
    }
    place.write = write
    for (const piece of place.pieces.add(bytes)) yield { piece, place }
  }

  *#end(name: string): Generator<{ piece: Piece; place: Place }, void, undefined> {
    for (const ended of name === 'all' ? [...this.#places.keys()] : [name]) {
      const place = this.#places.get(ended)
      this.#places.delete(ended)
      const piece = place?.pieces.flush()
      if (piece !== undefined) yield { piece, place: place! }
    }
  }

  async #hear({ piece, place: { format, write } }: { piece: Piece; place: Place }): Promise<WireEvent> {
    this.#seen += piece.bytes.length
    if (this.#seen >= mostAtOnce) {
      this.#seen = 0
      await setImmediate()
    }
    const heard = await this.#ear.hear(piece, format).catch((error: unknown) => {
      // Any refusal of the backend: the answer ends as withheld, whose closed set of reasons has none for overload.
      if (error instanceof Fault) return { reason: 'too_slow' } as const
      throw error
    })
    const isUnheard = 'text' in heard && heard.text === ''
    const data = write(isUnheard ? silenceOf(piece, format) : piece.bytes.toString('base64'))
    // Sound without a transcript stays unjudged, and is denied as such.
    if (!('text' in heard)) return { data }
    // Between two pieces there is a pause.
    return { data, heard: { text: isUnheard ? '' : `${heard.text} `, silence: silentByte(format) } }
  }
}

function isSame(one: SoundFormat, other: SoundFormat): boolean {
  return one.coding === other.coding && one.rate === other.rate
}
