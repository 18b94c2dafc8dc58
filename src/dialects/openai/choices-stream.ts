/**
 * Chunks of choices (chat completions and completions). Every string inside a choice is an increment of one channel:
 * choice × path, with tool calls told apart by their own `index`. All other leaves of a chunk repeat from chunk to chunk.
 */
import type { Json, JsonObject } from '../../chat.js'
import type { Holder } from '../channel.js'
import type { TurnFacts } from '../dialect.js'
import { type StreamShape, type StreamSink, unreadable } from '../reply-stream.js'
import { isObject, pointerSegment } from '../rewrite.js'
import { dataKind } from '../walk.js'
import type { ChoiceWriter } from './choices-write.js'
import { dataFrame, doneFrame, endMarker } from './frames.js'
import { names } from './names.js'
import { forgetTokens, tokenTexts } from './tokens.js'

/** Spoken answers come in pieces of base64 beside their transcript. */
const audioData = /^\/choices\/\d+\/message\/audio\/data$/

const choiceFields = new Set(['index', 'finish_reason', 'logprobs'])
const bodyFields = new Set(['choices'])

export class ChoicesStreamShape implements StreamShape {
  readonly names = names
  readonly endMarker = endMarker
  readonly frame = dataFrame
  readonly forgetTokens = forgetTokens
  readonly repeats = false
  /** Nothing but the end marker ends it. */
  readonly complete = false
  readonly #choices = new Set<number>()
  readonly #filtered: ChoiceWriter['filteredStream']

  constructor(filtered: ChoiceWriter['filteredStream']) {
    this.#filtered = filtered
  }

  read(chunk: JsonObject, sink: StreamSink, name: string | undefined): 'more' {
    if (name === 'error') throw unreadable('the upstream sent an error event')
    if ('error' in chunk) throw unreadable('the upstream sent an error in its stream')
    // Padding against size analysis: useless where frames are held back, and noise to judge.
    delete chunk.obfuscation
    const { choices } = chunk
    if (choices !== undefined && !Array.isArray(choices)) throw unreadable('choices is not an array')
    for (const [position, choice] of (choices ?? []).entries()) this.#readChoice(choice, position, sink)
    sink.rest.rest('parameter', chunk, '', bodyFields)
    return 'more'
  }

  #readChoice(choice: Json, position: number, sink: StreamSink): void {
    if (!isObject(choice)) throw unreadable('a choice is not an object')
    const index = typeof choice.index === 'number' ? choice.index : position
    this.#choices.add(index)
    const pointer = `/choices/${index}`
    for (const name of Object.keys(choice)) {
      if (choiceFields.has(name)) continue
      // A client of the stream reads `delta`; the reader of the whole knows the same place as `message`.
      readLeaves(choice, name, `${pointer}/${name === 'delta' ? 'message' : pointerSegment(name)}`, sink)
    }
    for (const text of tokenTexts(choice.logprobs)) sink.tokens(`${pointer}/logprobs`, text)
    if (typeof choice.finish_reason === 'string') {
      sink.rest.word('assistant', choice.finish_reason, `${pointer}/finish_reason`)
      sink.close(`${pointer}/`)
    }
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

function readLeaves(holder: Holder, key: string, pointer: string, sink: StreamSink): void {
  const value = (holder as JsonObject)[key]
  if (typeof value === 'string') {
    const last = pointer.slice(pointer.lastIndexOf('/') + 1)
    if ((last === 'role' || last === 'type') && names.has(value)) return
    const kind = audioData.test(pointer) ? 'audio' : dataKind(value)
    if (kind !== undefined) sink.media(pointer, kind)
    else sink.delta(pointer, holder, key, last === 'arguments' ? 'arguments' : 'text')
  } else if (Array.isArray(value)) {
    for (const [position, item] of value.entries()) {
      const index = isObject(item) && typeof item.index === 'number' ? item.index : position
      readLeaves(value, String(position), `${pointer}/${index}`, sink)
    }
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const at = `${pointer}/${pointerSegment(name)}`
      sink.rest.key('assistant', name, at)
      readLeaves(value, name, at, sink)
    }
  }
}
