/** The lines of a streamed answer: each an answer whose texts continue those of the lines before it, the last with `done`. */
import type { JsonObject } from '../../chat.js'
import type { TurnFacts } from '../dialect.js'
import { tokenTexts } from '../openai/tokens.js'
import { type StreamShape, type StreamSink, unreadable } from '../reply-stream.js'
import { isObject } from '../rewrite.js'
import { takeWhole } from '../whole-value.js'
import { names } from './names.js'
import { forgetTokens, readImages } from './reply.js'
import { line, type Operation, said } from './write.js'

const spelledOut = ['content', 'thinking', 'response']
const taken = new Set([...spelledOut, 'message', 'tool_calls', 'images', 'role', 'logprobs', 'done_reason'])

export class LinesShape implements StreamShape {
  readonly names = names
  readonly endMarker = undefined
  readonly repeats = false
  /** Only a line with `done` ends it. */
  readonly complete = false
  readonly #operation: Operation
  #calls = 0

  constructor(operation: Operation) {
    this.#operation = operation
  }

  read(value: JsonObject, sink: StreamSink): 'more' | 'end' {
    if ('error' in value) throw unreadable('the upstream sent an error in its stream')
    if (typeof value.done !== 'boolean') throw unreadable('a line does not say whether it is the last')
    if (value.message !== undefined && !isObject(value.message)) throw unreadable('a message is not an object')
    this.#readTexts(value, '', sink)
    if (value.message !== undefined) this.#readTexts(value.message, '/message', sink)
    for (const text of tokenTexts(value.logprobs)) sink.tokens('/logprobs', text)
    if (typeof value.done_reason === 'string') sink.rest.word('assistant', value.done_reason, '/done_reason')
    else sink.rest.walk('assistant', value.done_reason, '/done_reason')
    if (value.done) sink.close('/')
    return value.done ? 'end' : 'more'
  }

  #readTexts(holder: JsonObject, pointer: string, sink: StreamSink): void {
    for (const name of spelledOut) {
      if (typeof holder[name] === 'string') sink.delta(`${pointer}/${name}`, holder, name)
      else sink.rest.walk('assistant', holder[name], `${pointer}/${name}`)
    }
    readImages(sink.rest, holder.images, `${pointer}/images`)
    if (typeof holder.role === 'string') sink.rest.word('assistant', holder.role, `${pointer}/role`)
    this.#readCalls(holder, pointer, sink)
    sink.rest.rest(pointer === '' ? 'parameter' : 'assistant', holder, pointer, taken)
  }

  #readCalls(holder: JsonObject, pointer: string, sink: StreamSink): void {
    const { tool_calls: calls } = holder
    if (!Array.isArray(calls)) {
      sink.rest.walk('assistant', calls, `${pointer}/tool_calls`)
      return
    }
    for (const call of calls) {
      if (!isObject(call)) throw unreadable('a call is not an object')
      const at = `${pointer}/tool_calls/${this.#calls++}`
      for (const name of Object.keys(call)) {
        sink.rest.key('assistant', name, `${at}/${name}`)
        takeWhole(sink, call, name, `${at}/${name}`)
      }
    }
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
