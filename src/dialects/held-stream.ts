/**
 * An answer that comes in pieces, held until it is judged. Every string that a stream spells out over several events is a
 * channel (choice × text, reasoning, refusal, tool arguments); everything else in an event is judged once. Events leave in
 * the order in which they came, and only whole: an event waits for the last of its pieces.
 *
 * What differs from API to API is a `StreamShape`: where the pieces stand in an event, and how a stream is ended.
 */
import type { ChatPart, ChatReply, Json, JsonObject, Media } from '../chat.js'
import { parseJson } from '../json/parse.js'
import { Channel, type Holder } from './channel.js'
import type { TurnFacts } from './dialect.js'
import {
  type HeldText,
  type Released,
  type ReplyStream,
  type StreamShape,
  type StreamSink,
  unreadable,
  type WireEvent
} from './reply-stream.js'
import type { Replacement } from './rewrite.js'
import { Collector } from './walk.js'

/** Leaves judged already are remembered up to here; beyond, they are judged again. */
const maxKnown = 4096

interface PieceOfEvent {
  channel: Channel
  /** How many pieces of the channel must be settled before the event may leave. */
  count: number
  /** Where the event says the whole of the channel once more. */
  repetition?: { holder: Holder; key: string }
}

interface HeldEvent {
  value: JsonObject
  name: string | undefined
  pieces: PieceOfEvent[]
  media: Media[]
}

export class HeldStream implements ReplyStream {
  readonly #shape: StreamShape
  #events: HeldEvent[] = []
  readonly #channels = new Map<string, Channel>()
  readonly #tokens = new Map<string, { text: string; isNew: boolean }>()
  /** Leaves beside the channels that were let go. */
  readonly #known = new Set<string>()
  /** Leaves beside the channels that are not judged yet, by their id. */
  #others = new Map<string, ChatPart>()
  #forgetTokens = false
  started = false

  constructor(shape: StreamShape) {
    this.#shape = shape
  }

  get answerId(): string | undefined {
    return this.#shape.answerId
  }

  get complete(): boolean {
    return this.#shape.complete
  }

  push({ event: name, data }: WireEvent): 'more' | 'end' {
    if (data === this.#shape.endMarker) return 'end'
    const value = readEvent(data)
    const rest = new Collector(this.#shape.names)
    const held: HeldEvent = { value, name, pieces: [], media: [] }
    const outcome = this.#shape.read(value, this.#sinkFor(held, rest), name)
    held.media.push(...rest.media)
    for (const part of rest.parts) {
      const id = `${part.pointer}\n${part.text}`
      if (!this.#known.has(id)) this.#others.set(id, part)
    }
    this.#events.push(held)
    return outcome
  }

  #sinkFor(held: HeldEvent, rest: Collector): StreamSink {
    const add = (pointer: string, holder: Holder, key: string, kind: 'text' | 'arguments' = 'text') => {
      const channel = this.#channel(pointer, kind)
      held.pieces.push({ channel, count: channel.add(holder, key) })
    }
    return {
      rest,
      delta: add,
      repeat: (pointer, holder, key, kind = 'text') => {
        const channel = this.#channels.get(pointer)
        const text = (holder as JsonObject)[key] as string
        if (channel === undefined) add(pointer, holder, key, kind)
        else if (channel.whole === text)
          held.pieces.push({ channel, count: channel.count, repetition: { holder, key } })
        else add(`${pointer}/repeated`, holder, key, kind)
        for (const each of [pointer, `${pointer}/repeated`]) this.#channels.get(each)?.close()
      },
      tokens: (pointer, text) => {
        const before = this.#tokens.get(pointer)?.text ?? ''
        this.#tokens.set(pointer, { text: before + text, isNew: true })
      },
      close: (prefix) => {
        for (const channel of this.#channels.values()) if (channel.pointer.startsWith(prefix)) channel.close()
      },
      media: (pointer, kind) => {
        held.media.push({ pointer, kind })
      }
    }
  }

  #channel(pointer: string, kind: 'text' | 'arguments'): Channel {
    let channel = this.#channels.get(pointer)
    if (channel === undefined) {
      channel = new Channel(pointer, kind, this.#shape.repeats)
      this.#channels.set(pointer, channel)
    }
    return channel
  }

  content(): ChatReply {
    const out = new Collector(this.#shape.names)
    out.parts.push(...this.#others.values())
    const media = new Map(this.#events.flatMap((event) => event.media.map((each) => [each.pointer, each] as const)))
    out.media.push(...media.values())
    for (const channel of this.#channels.values()) {
      const text = channel.judged()
      if (text === undefined) continue
      if (channel.kind === 'arguments') out.embedded('assistant', text, channel.pointer)
      else out.text('assistant', text, channel.pointer)
    }
    for (const [pointer, { text, isNew }] of this.#tokens) if (isNew) out.text('assistant', text, pointer)
    const id = this.answerId
    return id === undefined ? out : Object.assign(out, { id })
  }

  holding(): readonly HeldText[] {
    return [...this.#channels.values()].flatMap((channel) => channel.holding() ?? [])
  }

  mayLeave(settled: ReadonlyMap<string, number>): boolean {
    const first = this.#events[0]
    return (
      first?.pieces.every(({ channel, count }) => channel.countUpTo(settled.get(channel.pointer) ?? 0) >= count) ??
      false
    )
  }

  release(settled: ReadonlyMap<string, number> | undefined, replacements: readonly Replacement[]): Released {
    let redacted = 0
    for (const channel of this.#channels.values()) {
      const upTo = settled === undefined ? Number.POSITIVE_INFINITY : (settled.get(channel.pointer) ?? 0)
      redacted += channel.settle(upTo, replacements)
    }
    if (redacted > 0) this.#forgetTokens = true
    let frames = ''
    let count = 0
    for (const { value, name, pieces } of this.#events) {
      if (settled !== undefined && !pieces.every((piece) => piece.channel.settledPieces >= piece.count)) break
      count++
      if (this.#forgetTokens) this.#shape.forgetTokens(value)
      for (const { channel, count: upTo, repetition } of pieces) {
        channel.leave(upTo)
        if (repetition !== undefined) channel.fill(repetition.holder, repetition.key)
      }
      frames += this.#shape.frame(value, name, !this.started)
      this.started = true
      this.#shape.left(value)
    }
    this.#events.splice(0, count)
    this.#forget()
    return { frames, redacted }
  }

  /** Leaves and media that were judged need not be judged again, whether they have left or wait. */
  #forget(): void {
    for (const event of this.#events) event.media = []
    if (this.#known.size > maxKnown) this.#known.clear()
    for (const id of this.#others.keys()) this.#known.add(id)
    this.#others = new Map()
    for (const [pointer, { text }] of this.#tokens) {
      this.#tokens.set(pointer, { text: text.slice(-Channel.tailLength), isNew: false })
    }
  }

  filtered(facts: TurnFacts): string {
    this.#events = []
    return this.#shape.filtered(facts, this.started)
  }

  end(): string {
    return this.#shape.end()
  }
}

function readEvent(data: string): JsonObject {
  let value: Json
  try {
    value = parseJson(data)
  } catch {
    throw unreadable('an event is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unreadable('an event is not an object')
  return value
}
