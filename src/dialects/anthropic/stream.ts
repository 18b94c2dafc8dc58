/**
 * The events of a streamed message (docs.anthropic.com/en/docs/build-with-claude/streaming). Every string of a delta
 * continues a channel: block × field. Every begun block is closed again, also where the stream ends as filtered.
 */
import type { Json, JsonObject } from '../../base/chat.js'
import type { TurnFacts } from '../dialect.js'
import { failureOf, type StreamFailure } from '../failure.js'
import { type Pushed, type StreamShape, type StreamSink, unreadable } from '../reply-stream.js'
import { isObject, pointerSegment } from '../rewrite.js'
import { type Fields, index, isIndex, object, readFields, type Taker, walked } from '../taken.js'
import type { Collector } from '../walk.js'
import { takeTexts, takeWhole } from '../whole-value.js'
import { readBlock } from './blocks.js'
import { names } from './names.js'
import { readMessage } from './reply.js'
import { filteredEvents, frame } from './write.js'

/** The field of a block that a field of a delta continues, where the two are not called the same. */
const continued: Readonly<Record<string, string>> = { partial_json: 'input' }
/** Strings of a block that its deltas continue. */
const spelledOut = ['text', 'thinking', 'content']
const opaque = new Set(['signature', 'encrypted_content', 'encrypted_index'])
const ofMessage: Taker<Collector> = object((value, out) => readMessage(out, value))
/** Read, or refused, by the reader of the event. */
const ofBlock: Taker<Collector> = () => true
/** By an event's type, the fields that it uses. */
const eventFields: Readonly<Record<string, Fields<Collector>>> = {
  message_start: { message: ofMessage },
  content_block_start: { index, content_block: ofBlock },
  content_block_delta: { index, delta: ofBlock },
  content_block_stop: { index },
  message_delta: { delta: ofMessage },
  message_stop: {},
  ping: {}
}

/** Of an event that is not known: it becomes a line of its own. */
const typePattern = /^[a-z][a-z0-9_.]{0,127}$/

export class MessageStreamShape implements StreamShape {
  readonly names = names
  readonly endMarker = undefined
  readonly repeats = false
  /** Only `message_stop` ends it. */
  readonly complete = false
  answerId: string | undefined
  failure: StreamFailure | undefined
  /** Blocks that the upstream has begun and not ended. */
  readonly #open = new Set<number>()
  readonly #citations = new Map<number, number>()
  /** Events of unknown types. */
  #others = 0
  /** The state of the stream as the client has seen it. */
  readonly #seen = {
    started: false,
    open: new Set<number>(),
    empty: undefined as number | undefined,
    next: 0,
    stopped: false
  }

  read(event: JsonObject, sink: StreamSink, name: string | undefined): Pushed {
    const { type } = event
    if (typeof type !== 'string') throw unreadable('an event has no type')
    if (name !== undefined && name !== type) throw unreadable('the name and the type of an event differ')
    if (type === 'error') {
      this.failure = failureOf(event.error, event)
      return 'failed'
    }
    if (!Object.hasOwn(eventFields, type)) return this.#readOther(type, event, sink)
    readFields(eventFields[type]!, event, '', sink.rest, walked(sink.rest, 'parameter'))
    switch (type) {
      case 'message_start':
        if (!isObject(event.message)) throw unreadable('message_start has no message')
        if (typeof event.message.id === 'string') this.answerId ??= event.message.id
        return 'more'
      case 'content_block_start':
        this.#readStart(event, sink)
        return 'more'
      case 'content_block_delta':
        this.#readDelta(event, sink)
        return 'more'
      case 'content_block_stop': {
        const index = this.#openIndex(event)
        this.#open.delete(index)
        sink.close(`/content/${index}/`)
        return 'more'
      }
      default:
        return type === 'message_stop' ? 'end' : 'more'
    }
  }

  /**
   * An event of a type that this API may add (docs.anthropic.com/en/api/versioning), which clients ignore. Every text is judged: of
   * increments as one, of other events each with the end of the one before it.
   */
  #readOther(type: string, event: JsonObject, sink: StreamSink): 'more' {
    if (!typePattern.test(type)) throw unreadable('an event has no type')
    sink.rest.word('parameter', type, '/type')
    const block = isIndex(event.index) ? `/content/${event.index}/${type}` : `/events/${type}`
    const isIncrement = type.endsWith('_delta')
    const pointer = isIncrement ? block : `${block}/${this.#others++}`
    for (const name of Object.keys(event)) {
      if (name === 'type') continue
      const at = `${pointer}/${pointerSegment(name)}`
      sink.rest.key('assistant', name, at)
      takeTexts(sink, event, name, at)
    }
    if (!isIncrement) sink.close(`${pointer}/`)
    return 'more'
  }

  #readStart({ index, content_block: block }: JsonObject, sink: StreamSink): void {
    if (!isIndex(index) || !isObject(block)) throw unreadable('content_block_start without index or block')
    if (this.#open.has(index)) throw unreadable('a block is begun twice')
    this.#open.add(index)
    const pointer = `/content/${index}`
    const whole: JsonObject = { ...block }
    for (const field of spelledOut) {
      if (typeof block[field] !== 'string') continue
      delete whole[field]
      sink.delta(`${pointer}/${field}`, block, field)
    }
    sink.rest.join(readBlock(sink.rest, whole, 'assistant', pointer))
  }

  #readDelta(event: JsonObject, sink: StreamSink): void {
    const index = this.#openIndex(event)
    const { delta } = event
    if (!isObject(delta)) throw unreadable('a delta is not an object')
    const pointer = `/content/${index}`
    for (const name of Object.keys(delta)) {
      const value = delta[name] as Json
      const field = Object.hasOwn(continued, name) ? continued[name]! : name
      const at = `${pointer}/${field}`
      sink.rest.key('assistant', name, at)
      if (name === 'type' && typeof value === 'string') sink.rest.word('assistant', value, at)
      else if (opaque.has(name)) sink.rest.opaque('assistant', value, at)
      else if (typeof value === 'string') sink.delta(at, delta, name, field === 'input' ? 'arguments' : 'text')
      else if (name === 'citation') this.#readCitation(index, value, sink)
      else sink.rest.walk('assistant', value, at)
    }
  }

  #readCitation(index: number, citation: Json, sink: StreamSink): void {
    const count = this.#citations.get(index) ?? 0
    this.#citations.set(index, count + 1)
    const pointer = `/content/${index}/citations/${count}`
    if (!isObject(citation)) {
      sink.rest.walk('assistant', citation, pointer)
      return
    }
    for (const name of Object.keys(citation)) {
      sink.rest.key('assistant', name, `${pointer}/${pointerSegment(name)}`)
      if (opaque.has(name)) sink.rest.opaque('assistant', citation[name], `${pointer}/${name}`)
      else takeWhole(sink, citation, name, `${pointer}/${pointerSegment(name)}`)
    }
  }

  #openIndex({ index }: JsonObject): number {
    if (!isIndex(index) || !this.#open.has(index)) throw unreadable('an event of a block that is not open')
    return index
  }

  frame(event: JsonObject): string {
    return frame(event)
  }

  left({ type, index, delta, content_block: block }: JsonObject): void {
    const seen = this.#seen
    if (type === 'message_start') seen.started = true
    else if (type === 'content_block_start') {
      seen.open.add(index as number)
      seen.next = Math.max(seen.next, (index as number) + 1)
      seen.empty = isObject(block) && block.type === 'text' && block.text === '' ? (index as number) : undefined
    } else if (type === 'content_block_delta') {
      if (index === seen.empty && !(isObject(delta) && delta.text === '')) seen.empty = undefined
    } else if (type === 'content_block_stop') {
      seen.open.delete(index as number)
      if (index === seen.empty) seen.empty = undefined
    } else if (type === 'message_delta' && isObject(delta) && delta.stop_reason != null) seen.stopped = true
  }

  /** This API streams no token probabilities. */
  forgetTokens(): void {}

  filtered(facts: TurnFacts): string {
    return filteredEvents(this.#seen, facts)
      .map((event) => this.frame(event))
      .join('')
  }

  end(): string {
    return ''
  }
}
