/**
 * The events of ConverseStream, each an object under the name that its message has. Every string of a delta continues a
 * channel: block × field. Every begun block is closed again, also where the stream ends as filtered.
 */
import type { Json, JsonObject } from '../../base/chat.js'
import type { Holder } from '../channel.js'
import type { TurnFacts } from '../dialect.js'
import { type StreamShape, type StreamSink, unreadable } from '../reply-stream.js'
import { isObject, pointerSegment } from '../rewrite.js'
import { type Fields, isIndex, readFields, type Taker, walked, word } from '../taken.js'
import type { Collector } from '../walk.js'
import { takeWhole } from '../whole-value.js'
import { opaqueFields, readBlock } from './blocks.js'
import { names } from './names.js'
import { endFields } from './reply.js'
import { filteredStream, frame } from './write.js'

/** Read, or refused, by the reader of the event. */
const ofBlock: Taker<Collector> = () => true
const padding = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
/** Events are filled up to hide how long their texts are, with the beginning of this and nothing else. */
export function isPadding(value: Json): boolean {
  return typeof value === 'string' && padding.startsWith(value)
}

const common: Fields<Collector> = { p: isPadding }
const block: Fields<Collector> = { ...common, contentBlockIndex: ofBlock }
/** By an event's name, the fields that it uses. */
const eventFields: Readonly<Record<string, Fields<Collector>>> = {
  messageStart: { ...common, role: word },
  contentBlockStart: { ...block, start: ofBlock },
  contentBlockDelta: { ...block, delta: ofBlock },
  contentBlockStop: block,
  messageStop: { ...common, ...endFields },
  metadata: { ...common, ...endFields }
}
/** Where a string of a delta stands in a whole block, where that is elsewhere. */
const places: Readonly<Record<string, string>> = {
  '/reasoningContent/text': '/reasoningContent/reasoningText/text',
  '/reasoningContent/signature': '/reasoningContent/reasoningText/signature'
}

export class ConverseStreamShape implements StreamShape {
  readonly names = names
  readonly endMarker = undefined
  readonly repeats = false
  #started = false
  #stopped = false
  /** Blocks that the upstream has begun and not ended, and those that it has ended. */
  readonly #open = new Set<number>()
  readonly #ended = new Set<number>()
  /** By block, how many values came whole. */
  readonly #whole = new Map<number, number>()
  /** The state of the stream as the client has seen it. */
  readonly #seen = { started: false, open: new Set<number>(), next: 0, stopped: false, counted: false }
  /** The names of events that are held: an event does not say its own. */
  readonly #named = new WeakMap<JsonObject, string>()

  /** The counts of tokens come last, and need not. */
  get complete(): boolean {
    return this.#stopped
  }

  read(event: JsonObject, sink: StreamSink, name: string | undefined): 'more' {
    // The texts of an unknown event type cannot be assembled, and so not judged.
    if (name === undefined || !Object.hasOwn(eventFields, name)) throw unreadable('an event of an unknown type')
    if (this.#started === (name === 'messageStart')) throw unreadable('messageStart does not stand first')
    if (this.#stopped && name !== 'metadata') throw unreadable('an event after the end of the message')
    this.#named.set(event, name)
    readFields(eventFields[name]!, event, '', sink.rest, walked(sink.rest, 'parameter'))
    switch (name) {
      case 'messageStart':
        this.#started = true
        break
      case 'contentBlockStart':
        this.#readStart(event, sink)
        break
      case 'contentBlockDelta':
        this.#readDelta(event, sink)
        break
      case 'contentBlockStop': {
        const index = this.#indexOf(event)
        if (!this.#open.delete(index)) throw unreadable('an event of a block that is not open')
        this.#ended.add(index)
        sink.close(`${pointerOf(index)}/`)
        break
      }
      case 'messageStop':
        if (typeof event.stopReason !== 'string') throw unreadable('messageStop has no reason')
        this.#stopped = true
        sink.close('/')
        break
      default:
    }
    return 'more'
  }

  #readStart(event: JsonObject, sink: StreamSink): void {
    const index = this.#indexOf(event)
    const { start } = event
    if (!isObject(start)) throw unreadable('contentBlockStart has no block')
    if (this.#open.has(index)) throw unreadable('a block is begun twice')
    this.#open.add(index)
    readBlock(sink.rest, start, 'assistant', pointerOf(index))
  }

  /** Blocks of text begin with their first delta. */
  #readDelta(event: JsonObject, sink: StreamSink): void {
    const index = this.#indexOf(event)
    const { delta } = event
    if (!isObject(delta)) throw unreadable('a delta is not an object')
    this.#open.add(index)
    const pointer = pointerOf(index)
    for (const name of Object.keys(delta)) {
      const at = `${pointer}/${pointerSegment(name)}`
      if (name === 'citation' || Array.isArray(delta[name])) this.#readWhole(delta, name, index, sink)
      else if (name === 'image' || name === 'audio' || name === 'video') {
        readBlock(sink.rest, { [name]: delta[name]! }, 'assistant', pointer)
      } else this.#readPiece(delta, name, at, pointer, sink)
    }
  }

  /** A value that comes whole in one delta: it continues nothing. */
  #readWhole(delta: JsonObject, name: string, index: number, sink: StreamSink): void {
    const count = this.#whole.get(index) ?? 0
    this.#whole.set(index, count + 1)
    const at = `${pointerOf(index)}/${pointerSegment(name)}`
    sink.rest.key('assistant', name, at)
    takeWhole(sink, delta, name, `${at}/${count}`)
  }

  /** Every string in it continues the text of its place. Depth is bounded by the strict reader. */
  #readPiece(holder: Holder, name: string, at: string, block: string, sink: StreamSink): void {
    const value = (holder as JsonObject)[name] as Json
    sink.rest.key('assistant', name, at)
    if (opaqueFields.has(name)) sink.rest.opaque('assistant', value, at)
    else if (typeof value === 'string') {
      const place = at.slice(block.length)
      const isInput = place === '/toolUse/input'
      sink.delta(block + (places[place] ?? place), holder, name, isInput ? 'arguments' : 'text')
    } else if (isObject(value)) {
      for (const inner of Object.keys(value)) {
        this.#readPiece(value, inner, `${at}/${pointerSegment(inner)}`, block, sink)
      }
    } else sink.rest.walk('assistant', value, at)
  }

  #indexOf({ contentBlockIndex: index }: JsonObject): number {
    if (!isIndex(index) || this.#ended.has(index)) throw unreadable('an event of no block, or of one that has ended')
    return index
  }

  frame(event: JsonObject, name: string | undefined): string {
    return frame(event, name!)
  }

  left(event: JsonObject): void {
    const seen = this.#seen
    const index = event.contentBlockIndex as number
    switch (this.#named.get(event)) {
      case 'messageStart':
        seen.started = true
        break
      case 'contentBlockStart':
      case 'contentBlockDelta':
        seen.open.add(index)
        seen.next = Math.max(seen.next, index + 1)
        break
      case 'contentBlockStop':
        seen.open.delete(index)
        break
      case 'messageStop':
        seen.stopped = true
        break
      default:
        seen.counted = true
    }
  }

  /** This API streams no token probabilities. */
  forgetTokens(): void {}

  filtered(facts: TurnFacts): string {
    return filteredStream(this.#seen, facts)
  }

  end(): string {
    return ''
  }
}

function pointerOf(index: number): string {
  return `/output/message/content/${index}`
}
