/**
 * The events of a streamed chat (docs.cohere.com/v2/docs/streaming). Every string of a delta continues a channel: the
 * block or the call × its field. Everything begun is ended again, also where the stream ends as filtered.
 */
import type { Json, JsonObject } from '../../base/chat.js'
import type { Holder } from '../channel.js'
import type { TurnFacts } from '../dialect.js'
import { dataKind } from '../media.js'
import { type StreamShape, type StreamSink, unreadable } from '../reply-stream.js'
import { isObject, pointerSegment } from '../rewrite.js'
import { any, type Fields, index, isIndex, object, ofRest, readFields, type Taker, walked, word } from '../taken.js'
import { takeWhole } from '../whole-value.js'
import { names } from './names.js'
import { forgetTokens, tokenText } from './reply.js'
import { doneFrame, endMarker, filteredStream, frame, type Opened, type SeenOfStream } from './write.js'

/** The field of a message, by the name of its events. */
const holders = { content: 'content', 'tool-call': 'tool_calls', citation: 'citations' } as const satisfies Record<
  Opened,
  string
>

const eventType = /^(content|tool-call|citation(?!-delta))-(start|delta|end)$/
/** Events that open nothing. `debug` repeats the prompt. */
const plainTypes: ReadonlySet<string> = new Set(['message-start', 'tool-plan-delta', 'message-end', 'debug'])

/** The target of an event. */
interface To {
  sink: StreamSink
  /** The field of the message that its delta grows, and the pointer at which it stands; undefined: none. */
  grows: { field: string; at: string } | undefined
}

const eventFields: Fields<To> = {
  index,
  delta: object((value, to, { at }) => readFields(deltaFields, value, at, to, walked(to.sink.rest, 'assistant'))),
  logprobs: any((value, { sink }, { at }) => {
    const text = tokenText(value, sink.rest, at)
    if (text !== '') sink.tokens(at, text)
  })
}
const deltaFields: Fields<To> = {
  message: object((value, to) => {
    const { sink, grows } = to
    const grown: Taker<To> = (_, __, { holder, name }) => {
      if (grows?.field === 'citations') takeWhole(sink, holder, name, grows.at)
      else if (grows !== undefined) readLeaves(holder, name, grows.at, sink)
      return grows !== undefined
    }
    const fields = { role: ofRest<To>(word), ...(grows !== undefined && { [grows.field]: grown }) }
    readFields(fields, value, '/message', to, walked(sink.rest, 'assistant'))
  }),
  finish_reason: ofRest(word)
}

export class ChatEventsShape implements StreamShape {
  readonly names = names
  readonly endMarker = endMarker
  readonly forgetTokens = forgetTokens
  readonly repeats = false
  /** After `message-end` comes nothing but the marker, which some servers leave out. */
  complete = false
  /** Indexes that the upstream has begun and not ended. */
  readonly #open = { content: new Set<number>(), 'tool-call': new Set<number>(), citation: new Set<number>() }
  /** All begun indexes: an ended one accepts no more text. */
  readonly #begun = { content: new Set<number>(), 'tool-call': new Set<number>() }
  #citations = 0
  /** The state of the stream as the client has seen it. */
  readonly #seen: SeenOfStream & { next: number; started: boolean; stopped: boolean } = {
    started: false,
    open: { content: new Set(), 'tool-call': new Set(), citation: new Set() },
    next: 0,
    stopped: false
  }

  read(event: JsonObject, sink: StreamSink, name: string | undefined): 'more' {
    const { type } = event
    if (typeof type !== 'string') throw unreadable('an event has no type')
    if (name !== undefined && name !== type) throw unreadable('the name and the type of an event differ')
    if (this.complete) throw unreadable('an event after the end of the message')
    const grows = this.#growing(type, event)
    readFields(eventFields, event, '', { sink, grows }, walked(sink.rest, 'parameter'))
    if (type === 'message-end') {
      this.complete = true
      sink.close('/')
    } else if (grows !== undefined && type.endsWith('-end')) sink.close(`${grows.at}/`)
    return 'more'
  }

  /**
   * @throws Fault `upstream_error` for an event that opens an index twice, continues a closed one, or has an unknown
   * type
   */
  #growing(type: string, { index }: JsonObject): To['grows'] {
    if (type === 'tool-plan-delta') return { field: 'tool_plan', at: '/message/tool_plan' }
    // The texts of an unknown event type cannot be assembled, and so not judged.
    const [, opened, step] = eventType.exec(type) ?? []
    if (opened === undefined) {
      if (plainTypes.has(type)) return undefined
      throw unreadable('an event of an unknown type')
    }
    if (!isIndex(index)) throw unreadable('an event without an index')
    const kind = opened as Opened
    const open = this.#open[kind]
    if (step === 'start') {
      if (open.has(index) || (kind !== 'citation' && this.#begun[kind].has(index))) {
        throw unreadable('a block is begun twice')
      }
      open.add(index)
      if (kind !== 'citation') this.#begun[kind].add(index)
    } else if (!open.has(index)) throw unreadable('an event of a block that is not open')
    else if (step === 'end') open.delete(index)
    const field = holders[kind]
    if (kind !== 'citation') return { field, at: `/message/${field}/${index}` }
    // It comes whole, and its index may be that of one before it.
    return step === 'start' ? { field, at: `/message/${field}/${this.#citations++}` } : undefined
  }

  frame(event: JsonObject): string {
    return frame(event)
  }

  left({ type, index }: JsonObject): void {
    const seen = this.#seen
    if (type === 'message-start') seen.started = true
    else if (type === 'message-end') seen.stopped = true
    const [, opened, step] = eventType.exec(type as string) ?? []
    if (opened === undefined) return
    const open = seen.open[opened as Opened] as Set<number>
    if (step === 'start') open.add(index as number)
    else if (step === 'end') open.delete(index as number)
    if (opened === 'content') seen.next = Math.max(seen.next, (index as number) + 1)
  }

  filtered(facts: TurnFacts): string {
    return filteredStream(this.#seen, facts)
  }

  end(): string {
    return doneFrame
  }
}

/** The strings of a delta, each of which continues the one of its place. */
function readLeaves(holder: Holder, key: string, pointer: string, sink: StreamSink): void {
  const value = (holder as JsonObject)[key] as Json
  if (typeof value === 'string') {
    const last = pointer.slice(pointer.lastIndexOf('/') + 1)
    if (last === 'type' && names.has(value)) return
    const kind = dataKind(value)
    if (kind !== undefined) sink.media(pointer, kind)
    sink.delta(pointer, holder, key, last === 'arguments' ? 'arguments' : 'text')
  } else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) readLeaves(value, String(i), `${pointer}/${i}`, sink)
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const at = `${pointer}/${pointerSegment(name)}`
      sink.rest.key('assistant', name, at)
      readLeaves(value, name, at, sink)
    }
  }
}
