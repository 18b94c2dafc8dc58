/**
 * The chunks of streamGenerateContent, each a whole `GenerateContentResponse` whose texts continue those of the chunks
 * before it. They come as server-sent events (`alt=sse`) or as a JSON array; there is no end marker beside the array's.
 */
import type { Json, JsonObject } from '../../base/chat.js'
import type { Framing, TurnFacts } from '../dialect.js'
import { failureOf, type StreamFailure } from '../failure.js'
import { isPieceOfMedia } from '../media.js'
import { type HeardSound, type StreamShape, type StreamSink, unreadable } from '../reply-stream.js'
import { isObject, pointerSegment } from '../rewrite.js'
import { HeardEvents } from '../sound.js'
import { any, type Fields, index, indexOf, object, ofRest, readFields, walked, word } from '../taken.js'
import { tokenTexts } from '../tokens.js'
import { takeWhole } from '../whole-value.js'
import { readPart } from './content.js'
import { names, spellings } from './names.js'
import { forgetTokens } from './reply.js'
import { soundIn } from './sound.js'
import { filteredChunk, frameEnd, frameOf } from './write.js'

const bodyFields = new Set(['candidates'])
/** Strings of a part that later chunks continue: by the field of the part, and the field within it. */
const spelledOut: readonly (readonly [part: ReadonlySet<string>, field: string])[] = [
  [spellings('executableCode'), 'code'],
  [spellings('codeExecutionResult'), 'output']
]
const callFields = spellings('functionCall')

export class GenerateStreamShape implements StreamShape {
  readonly names = names
  readonly endMarker = undefined
  readonly repeats = false
  failure: StreamFailure | undefined
  readonly #framing: Framing
  /** Candidates that were begun, and those of them that were given a reason to end. */
  readonly #begun = new Set<number>()
  readonly #ended = new Set<number>()
  #isBlocked = false
  /** Candidates whose reason to end has reached the client. */
  readonly #told = new Set<number>()
  #hasLeft = false
  #calls = 0
  readonly #heard = new HeardEvents()

  readonly #candidateFields: Fields<{ sink: StreamSink }> = {
    content: object((value, { sink }, { at }) => this.#readContent(value, at, sink)),
    finishReason: ofRest(word),
    index,
    logprobsResult: any((value, { sink }, { at }) => {
      for (const text of tokenTexts(value, sink.rest, 'assistant', at)) sink.tokens(at, text)
    })
  }
  readonly #contentFields: Fields<{ sink: StreamSink }> = {
    role: ofRest(word),
    parts: any((value, { sink }, { at }) => this.#readParts(value, at, sink))
  }

  constructor(framing: Framing) {
    this.#framing = framing
  }

  get complete(): boolean {
    return this.#isBlocked || (this.#begun.size > 0 && this.#ended.size === this.#begun.size)
  }

  read(chunk: JsonObject, sink: StreamSink, name: string | undefined, heard?: HeardSound): 'more' | 'failed' {
    if (name !== undefined) throw unreadable('the upstream sent a named event')
    const { error = null } = chunk
    if (error !== null) {
      this.failure = failureOf(error, { error })
      return 'failed'
    }
    const { candidates, promptFeedback } = chunk
    if (candidates !== undefined && !Array.isArray(candidates)) throw unreadable('candidates is not an array')
    if (heard !== undefined) return this.#readHeard(chunk, heard, sink)
    for (const [position, candidate] of (candidates ?? []).entries()) this.#readCandidate(candidate, position, sink)
    if (isObject(promptFeedback) && typeof promptFeedback.blockReason === 'string') this.#isBlocked = true
    sink.rest.rest('parameter', chunk, '', bodyFields)
    return 'more'
  }

  /** Our own transcription stage wrote this chunk: it has one candidate and nothing else. */
  #readHeard(chunk: JsonObject, heard: HeardSound, sink: StreamSink): 'more' {
    const [candidate] = chunk.candidates as [JsonObject]
    const number = indexOf(candidate, 'index') ?? 0
    this.#begun.add(number)
    const pointer = `/candidates/${number}/content`
    this.#heard.take(chunk, heard, sink, `${pointer}/heard`)
    const holder = soundIn(chunk)!
    if (!isPieceOfMedia(holder.data as string, 'audio')) sink.delta(`${pointer}/data`, holder, 'data')
    sink.rest.rest('parameter', chunk, '', bodyFields)
    return 'more'
  }

  #readCandidate(candidate: Json, position: number, sink: StreamSink): void {
    if (!isObject(candidate)) throw unreadable('a candidate is not an object')
    const number = indexOf(candidate, 'index') ?? position
    this.#begun.add(number)
    const pointer = `/candidates/${number}`
    readFields(this.#candidateFields, candidate, pointer, { sink }, walked(sink.rest, 'assistant'))
    if (typeof candidate.finishReason === 'string') {
      this.#ended.add(number)
      sink.close(`${pointer}/`)
    }
  }

  /**
   * Each chunk has new parts, so a channel is what a client concatenates: the text, the thoughts, the code. Pointers
   * omit the index of the part, which has no meaning here.
   */
  #readContent(content: JsonObject, pointer: string, sink: StreamSink): void {
    readFields(this.#contentFields, content, pointer, { sink }, walked(sink.rest, 'assistant'))
  }

  #readParts(parts: Json, pointer: string, sink: StreamSink): void {
    if (!Array.isArray(parts)) throw unreadable('parts is not an array')
    for (const part of parts) {
      if (!isObject(part)) throw unreadable('a part is not an object')
      const whole: JsonObject = { ...part }
      if (typeof part.text === 'string') {
        delete whole.text
        sink.delta(`${pointer}/${part.thought === true ? 'thought' : 'text'}`, part, 'text')
      }
      this.#readSpelledOut(part, whole, pointer, sink)
      readPart(sink.rest, whole, 'assistant', pointer)
    }
  }

  /** Takes out of `whole` the strings of `part` that are pieces of channels. */
  #readSpelledOut(part: JsonObject, whole: JsonObject, pointer: string, sink: StreamSink): void {
    for (const name of Object.keys(part)) {
      const value = part[name]
      if (!isObject(value)) continue
      const at = `${pointer}/${pointerSegment(name)}`
      const field = spelledOut.find(([fields]) => fields.has(name))?.[1]
      if (field !== undefined && typeof value[field] === 'string') {
        sink.delta(`${at}/${field}`, value, field)
        const { [field]: _, ...rest } = value
        whole[name] = rest
      }
      if (!callFields.has(name)) continue
      const { args, ...rest } = readPartialArgs(value, at, sink)
      whole[name] = rest
      if (args !== undefined) sink.join(takeWhole(sink, value, 'args', `${at}/${this.#calls++}/args`))
    }
  }

  frame(chunk: JsonObject, _name: string | undefined, first: boolean): string {
    const holder = soundIn(chunk)
    const pieces = holder === undefined ? undefined : this.#heard.pieces(chunk, holder.data as string)
    if (pieces === undefined) return frameOf(this.#framing, chunk, first)
    return pieces
      .map((data, i) => {
        holder!.data = data
        return frameOf(this.#framing, chunk, first && i === 0)
      })
      .join('')
  }

  left({ candidates }: JsonObject): void {
    this.#hasLeft = true
    if (!Array.isArray(candidates)) return
    for (const [position, candidate] of candidates.entries()) {
      if (isObject(candidate) && typeof candidate.finishReason === 'string') {
        this.#told.add(indexOf(candidate, 'index') ?? position)
      }
    }
  }

  forgetTokens(chunk: JsonObject): void {
    forgetTokens(chunk)
  }

  filtered(facts: TurnFacts): string {
    const open = [...this.#begun].filter((index) => !this.#told.has(index)).sort((a, b) => a - b)
    const chunk = filteredChunk(open.length === 0 ? [0] : open, facts)
    return frameOf(this.#framing, chunk, !this.#hasLeft) + frameEnd(this.#framing, true)
  }

  end(): string {
    return frameEnd(this.#framing, this.#hasLeft)
  }
}

/** Arguments that are spelled out string by string (`streamFunctionCallArguments`). */
function readPartialArgs(call: JsonObject, pointer: string, sink: StreamSink): JsonObject {
  const field = ['partialArgs', 'partial_args'].find((name) => Array.isArray(call[name]))
  if (field === undefined) return call
  const { [field]: list, ...rest } = call
  for (const arg of list as Json[]) {
    if (!isObject(arg)) throw unreadable('a partial argument is not an object')
    const path = arg.jsonPath ?? arg.json_path
    const name = ['stringValue', 'string_value'].find((each) => typeof arg[each] === 'string')
    if (name !== undefined) sink.delta(`${pointer}/args/${pointerSegment(String(path))}`, arg, name)
    sink.rest.rest('assistant', arg, `${pointer}/args`, new Set(name === undefined ? [] : [name]))
  }
  return rest
}
