/** The lines of a streamed answer: each an answer whose texts continue those of the lines before it, the last with `done`. */
import type { Json, JsonObject } from '../../base/chat.js'
import type { TurnFacts } from '../dialect.js'
import { failureOf, type StreamFailure } from '../failure.js'
import { type Pushed, type StreamShape, type StreamSink, unreadable } from '../reply-stream.js'
import { isObject } from '../rewrite.js'
import { any, type Fields, object, ofRest, readFields, string, type Taker, walked, word } from '../taken.js'
import { tokenTexts } from '../tokens.js'
import { takeWhole } from '../whole-value.js'
import { names } from './names.js'
import { forgetTokens, readImages } from './reply.js'
import { line, type Operation, said } from './write.js'

type To = { sink: StreamSink }
const spelled: Taker<To> = string((_, { sink }, { at, holder, name }) => sink.delta(at, holder, name))

export class LinesShape implements StreamShape {
  readonly names = names
  readonly endMarker = undefined
  readonly repeats = false
  failure: StreamFailure | undefined
  /** Only a line with `done` ends it. */
  readonly complete = false
  readonly #operation: Operation
  #calls = 0

  readonly #texts: Fields<To> = {
    content: spelled,
    thinking: spelled,
    response: spelled,
    images: any((value, { sink }, { at }) => readImages(sink.rest, value, at)),
    role: ofRest(word),
    tool_calls: (value, { sink }, { at }) => this.#readCalls(value, at, sink)
  }
  readonly #lineFields: Fields<To> = {
    ...this.#texts,
    message: object((value, to, { at }) => readFields(this.#texts, value, at, to, walked(to.sink.rest, 'assistant'))),
    logprobs: any((value, { sink }, { at }) => {
      for (const text of tokenTexts(value, sink.rest, 'assistant', at)) sink.tokens(at, text)
    }),
    done_reason: ofRest(word)
  }

  constructor(operation: Operation) {
    this.#operation = operation
  }

  read(value: JsonObject, sink: StreamSink): Pushed {
    const { error = null } = value
    if (error !== null) {
      this.failure = failureOf(error, { error })
      return 'failed'
    }
    if (typeof value.done !== 'boolean') throw unreadable('a line does not say whether it is the last')
    if (value.message !== undefined && !isObject(value.message)) throw unreadable('a message is not an object')
    readFields(this.#lineFields, value, '', { sink }, walked(sink.rest, 'parameter'))
    if (value.done) sink.close('/')
    return value.done ? 'end' : 'more'
  }

  #readCalls(calls: Json, pointer: string, sink: StreamSink): boolean {
    if (!Array.isArray(calls)) return false
    for (const call of calls) {
      if (!isObject(call)) throw unreadable('a call is not an object')
      const at = `${pointer}/${this.#calls++}`
      for (const name of Object.keys(call)) {
        sink.rest.key('assistant', name, `${at}/${name}`)
        sink.join(takeWhole(sink, call, name, `${at}/${name}`))
      }
    }
    return true
  }

  frame(value: JsonObject): string {
    return line(value)
  }

  left(): void {}

  forgetTokens(value: JsonObject): void {
    forgetTokens(value)
  }

  filtered(facts: TurnFacts): string {
    return line(said(this.#operation, facts))
  }

  end(): string {
    return ''
  }
}
