/**
 * Chunks of choices (chat completions and completions). Every string inside a choice is an increment of one channel:
 * choice × path, with tool calls told apart by their own `index`. All other leaves of a chunk repeat from chunk to chunk.
 */
import type { Json, JsonObject } from '../../base/chat.js'
import type { Holder } from '../channel.js'
import type { TurnFacts } from '../dialect.js'
import { failureOf, type StreamFailure } from '../failure.js'
import { dataKind, isPieceOfMedia } from '../media.js'
import { type HeardSound, type StreamShape, type StreamSink, unreadable } from '../reply-stream.js'
import { isObject, pointerSegment } from '../rewrite.js'
import { HeardEvents } from '../sound.js'
import { any, type Fields, index, indexOf, ofRest, readFields, word } from '../taken.js'
import { tokenTexts } from '../tokens.js'
import type { ChoiceWriter } from './choices-write.js'
import { dataFrame, doneFrame, endMarker } from './frames.js'
import { names } from './names.js'
import { forgetTokens } from './tokens.js'

/** Spoken answers come in pieces of base64 beside their transcript. */
const audioData = /^\/choices\/\d+\/message\/audio\/data$/

/** Fields of a chunk beside the texts of its choices. */
const choiceFields: Fields<{ sink: StreamSink }> = {
  index,
  finish_reason: ofRest(word),
  logprobs: any((value, { sink }, { at }) => {
    for (const text of tokenTexts(value, sink.rest, 'assistant', at)) sink.tokens(at, text)
  })
}
const bodyFields = new Set(['choices'])

export class ChoicesStreamShape implements StreamShape {
  readonly names = names
  readonly endMarker = endMarker
  readonly forgetTokens = forgetTokens
  readonly repeats = false
  failure: StreamFailure | undefined
  /** Choices that were begun, and those of them that were given a reason to end. */
  readonly #choices = new Set<number>()
  readonly #ended = new Set<number>()
  readonly #heard = new HeardEvents()
  readonly #filtered: ChoiceWriter['filteredStream']

  constructor(filtered: ChoiceWriter['filteredStream']) {
    this.#filtered = filtered
  }

  /** Some servers leave out the end marker. */
  get complete(): boolean {
    return this.#choices.size > 0 && this.#ended.size === this.#choices.size
  }

  read(chunk: JsonObject, sink: StreamSink, name: string | undefined, heard?: HeardSound): 'more' | 'failed' {
    // Some servers name the event; clients of this API look for the field.
    const error = chunk.error ?? (name === 'error' ? chunk : null)
    if (error !== null) {
      this.failure = failureOf(error, { error })
      return 'failed'
    }
    // Padding against size analysis: useless where frames are held back, and noise to judge.
    delete chunk.obfuscation
    const { choices } = chunk
    if (choices !== undefined && !Array.isArray(choices)) throw unreadable('choices is not an array')
    for (const [position, choice] of (choices ?? []).entries()) {
      this.#readChoice(choice, position, heard === undefined ? sink : this.#hearing(chunk, heard, sink))
    }
    sink.rest.rest('parameter', chunk, '', bodyFields)
    return 'more'
  }

  #readChoice(choice: Json, position: number, sink: StreamSink): void {
    if (!isObject(choice)) throw unreadable('a choice is not an object')
    const number = indexOf(choice, 'index') ?? position
    this.#choices.add(number)
    const pointer = `/choices/${number}`
    readFields(choiceFields, choice, pointer, { sink }, ({ name, at }) => {
      sink.rest.key('assistant', name, at)
      // A client of the stream reads `delta`; the reader of the whole knows the same place as `message`.
      readLeaves(choice, name, name === 'delta' ? `${pointer}/message` : at, sink)
    })
    if (typeof choice.finish_reason === 'string') {
      this.#ended.add(number)
      sink.close(`${pointer}/`)
    }
  }

  /** A chunk with transcribed sound has no other sound: our own transcription stage wrote it. */
  #hearing(chunk: JsonObject, heard: HeardSound, sink: StreamSink): StreamSink {
    const media = (pointer: string) =>
      this.#heard.take(chunk, heard, sink, `${pointer.slice(0, pointer.lastIndexOf('/'))}/heard`)
    return { ...sink, media }
  }

  frame(chunk: JsonObject): string {
    const audio = soundIn(chunk)
    const pieces = audio === undefined ? undefined : this.#heard.pieces(chunk, audio.data as string)
    if (pieces === undefined) return dataFrame(chunk)
    let frames = ''
    for (const data of pieces) {
      audio!.data = data
      frames += dataFrame(chunk)
    }
    return frames
  }

  left(): void {}

  filtered(facts: TurnFacts, started: boolean): string {
    return this.#filtered(
      [...this.#choices].sort((a, b) => a - b),
      started,
      facts
    )
  }

  end(): string {
    return doneFrame
  }
}

/** The place of the sound in a chunk with nothing else. */
function soundIn({ choices }: JsonObject): JsonObject | undefined {
  const choice = Array.isArray(choices) ? choices[0] : undefined
  const delta = isObject(choice) ? choice.delta : undefined
  const audio = isObject(delta) ? delta.audio : undefined
  return isObject(audio) && typeof audio.data === 'string' ? audio : undefined
}

function readLeaves(holder: Holder, key: string, pointer: string, sink: StreamSink): void {
  const value = (holder as JsonObject)[key]
  if (typeof value === 'string') {
    const last = pointer.slice(pointer.lastIndexOf('/') + 1)
    if ((last === 'role' || last === 'type') && names.has(value)) return
    const isAudio = audioData.test(pointer)
    const kind = isAudio ? 'audio' : dataKind(value)
    if (kind !== undefined) sink.media(pointer, kind)
    // A place for sound counts as sound, as in a whole answer; readable text in it is judged too.
    if (!isAudio || !isPieceOfMedia(value, 'audio')) {
      sink.delta(pointer, holder, key, last === 'arguments' ? 'arguments' : 'text')
    }
  } else if (Array.isArray(value)) {
    for (const [position, item] of value.entries()) {
      const number = (isObject(item) ? indexOf(item, 'index') : undefined) ?? position
      readLeaves(value, String(position), `${pointer}/${number}`, sink)
    }
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const at = `${pointer}/${pointerSegment(name)}`
      sink.rest.key('assistant', name, at)
      readLeaves(value, name, at, sink)
    }
  }
}
