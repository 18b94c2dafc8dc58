/**
 * Holds a streamed answer until it is judged. Every string that a stream spells out over several events is a channel
 * (choice × text, reasoning, refusal, tool arguments); everything else in an event is judged once. Events leave in the
 * order in which they came, and only whole: an event waits for the last of its pieces.
 *
 * A `StreamShape` knows the differences between APIs: the places of the pieces in an event, and the end of a stream.
 */
import type { ChatPart, ChatReply, Json, JsonObject, Media } from '../base/chat.js'
import { parseJson } from '../json/parse.js'
import { Channel, type HeldText, type Holder } from './channel.js'
import type { TurnFacts } from './dialect.js'
import type { StreamFailure } from './failure.js'
import { OpenPlaces } from './open-places.js'
import {
  type Pushed,
  type Released,
  type ReplyStream,
  type StreamShape,
  type StreamSink,
  unreadable,
  type WireEvent
} from './reply-stream.js'
import type { Replacement } from './rewrite.js'
import { Secret, SecretReader } from './secret.js'
import { Collector } from './walk.js'

/** Most judged leaves that are remembered; beyond, they are judged again. */
const maxKnown = 4096
/** Fixed cost of judging an event, in UTF-16 units. */
const eventUnits = 2
/** Cost of a piece of sound or of a picture: it is held like text, but has little to judge. */
const mediaUnits = 256

/** This many units of a secret are no coincidence. */
const leastSpelled = 8

interface PieceOfEvent {
  channel: Channel
  /** Number of the channel's pieces that must be settled before the event may leave. */
  count: number
  /** Set where the event repeats the channel's whole text. */
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
  /** Channels with held text, and channels that may grow: a stream may have thousands of other, finished ones. */
  readonly #holding = new Set<Channel>()
  readonly #open = new OpenPlaces<Channel>()
  /** The newest text by its place: the next one of that place goes on from it. */
  readonly #last = new Map<string, Channel>()
  readonly #tokens = new Map<string, string>()
  /** Pointers of the tokens that are not judged yet. */
  readonly #newTokens = new Set<string>()
  /** Other leaves that have left. */
  readonly #known = new Set<string>()
  /** Other leaves that are not judged yet, by their id. */
  #others = new Map<string, ChatPart>()
  /** Runs of texts that are read as one and not all judged yet: ids of other leaves, or pointers of channels. */
  #runs: string[][] = []
  #forgetTokens = false
  /** Held units of all channels. */
  #units = 0
  started = false
  came = 0
  #secret: Secret | undefined
  /** By channel; the empty name is for all pieces in order of arrival. */
  readonly #readers = new Map<string, SecretReader>()
  /** Channels that have spelled out more than a coincidence. */
  readonly #spelling = new Set<string>()

  constructor(shape: StreamShape) {
    this.#shape = shape
  }

  get answerId(): string | undefined {
    return this.#shape.answerId
  }

  get complete(): boolean {
    return this.#shape.complete
  }

  get failure(): StreamFailure | undefined {
    return this.#shape.failure
  }

  failed(event: JsonObject): string {
    return this.#shape.frame(event, undefined, !this.started)
  }

  push(event: WireEvent): Pushed {
    const { event: name, data, heard } = this.#shape.unwrap?.(event) ?? event
    if (data === this.#shape.endMarker) return 'end'
    const value = readEvent(data)
    if (this.#secret?.isWithin(value)) throw unreadable('the answer holds the credential')
    const rest = new Collector(this.#shape.names)
    const held: HeldEvent = { value, name, pieces: [], media: [] }
    const outcome = this.#shape.read(value, this.#sinkFor(held, rest), name, heard)
    if (outcome === 'failed') {
      // Its words could be the rest of the secret.
      if (this.isSpelling) throw unreadable('the answer may hold the credential')
      return outcome
    }
    held.media.push(...rest.media)
    for (const run of rest.joined) this.#runs.push(run.map((index) => idOf(rest.parts[index]!)))
    for (const part of rest.parts) {
      const id = idOf(part)
      if (this.#known.has(id)) continue
      this.#others.set(id, part)
      this.came += part.text.length
    }
    this.came += eventUnits
    this.#events.push(held)
    return outcome
  }

  get weight(): number {
    return this.#units + this.#events.length * eventUnits
  }

  watch(secret: string): void {
    this.#secret = new Secret(secret)
  }

  get isSpelling(): boolean {
    return this.#spelling.size > 0
  }

  /** @throws Fault `upstream_error` */
  #refuseSecret(pointer: string, piece: string): void {
    if (this.#secret === undefined) return
    for (const name of [pointer, '']) {
      const reader = this.#readers.get(name) ?? new SecretReader(this.#secret)
      this.#readers.set(name, reader)
      if (reader.isFoundIn(piece)) throw unreadable('the answer holds the credential')
      if (reader.found >= leastSpelled) this.#spelling.add(name)
      else this.#spelling.delete(name)
    }
  }

  #sinkFor(held: HeldEvent, rest: Collector): StreamSink {
    const add = (pointer: string, holder: Holder, key: string, kind: 'text' | 'arguments' = 'text') => {
      this.#refuseSecret(pointer, (holder as JsonObject)[key] as string)
      const channel = this.#channel(pointer, kind)
      const before = held.pieces.at(-1)
      const count = channel.add(holder, key)
      this.#holding.add(channel)
      const { length } = (holder as JsonObject)[key] as string
      this.#units += length
      this.came += length
      // An event waits for the last of its pieces.
      if (before?.channel === channel && before.repetition === undefined) before.count = count
      else held.pieces.push({ channel, count })
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
        for (const each of [pointer, `${pointer}/repeated`]) this.#close(this.#channels.get(each))
      },
      tokens: (pointer, text) => {
        this.#refuseSecret(pointer, text)
        this.#tokens.set(pointer, (this.#tokens.get(pointer) ?? '') + text)
        this.#newTokens.add(pointer)
        this.came += text.length
      },
      join: (pointers) => {
        if (pointers.length > 1) this.#runs.push([...pointers])
      },
      close: (prefix) => {
        for (const channel of this.#open.take(prefix)) this.#close(channel)
      },
      media: (pointer, kind) => {
        held.media.push({ pointer, kind })
        this.came += mediaUnits
      }
    }
  }

  /** Its held text may leave now, which counts as new text. */
  #close(channel: Channel | undefined): void {
    if (channel === undefined || channel.isClosed) return
    channel.close()
    this.came += channel.units
  }

  #channel(pointer: string, kind: 'text' | 'arguments'): Channel {
    let channel = this.#channels.get(pointer)
    if (channel === undefined) {
      const place = kind === 'text' ? placeOf(pointer) : undefined
      const before = place === undefined ? undefined : this.#last.get(place)?.end
      channel = new Channel(pointer, kind, this.#shape.repeats, before)
      if (place !== undefined) this.#last.set(place, channel)
      this.#channels.set(pointer, channel)
      this.#open.add(pointer, channel)
    }
    return channel
  }

  content(): ChatReply {
    const out = new Collector(this.#shape.names)
    const places = new Map<string, number>()
    for (const [id, part] of this.#others) places.set(id, out.parts.push(part) - 1)
    const media = new Map(this.#events.flatMap((event) => event.media.map((each) => [each.pointer, each] as const)))
    out.media.push(...media.values())
    for (const channel of this.#holding) {
      const text = channel.judged()
      if (text === undefined) continue
      if (channel.kind === 'arguments') out.embedded('assistant', text, channel.pointer)
      else places.set(channel.pointer, out.text('assistant', text, channel.pointer))
    }
    for (const run of this.#runs) out.join(run.map((id) => places.get(id) ?? -1))
    for (const pointer of this.#newTokens) out.text('assistant', this.#tokens.get(pointer)!, pointer)
    const id = this.answerId
    return id === undefined ? out : Object.assign(out, { id })
  }

  holding(): readonly HeldText[] {
    return Array.from(this.#holding, (channel) => channel.holding()).filter((held) => held !== undefined)
  }

  leaving(settledOf: (held: HeldText) => number): ReadonlyMap<string, number> | undefined {
    const settled = new Map<string, number>()
    const counts = new Map<Channel, number>()
    const upTo = (channel: Channel): number => {
      let count = counts.get(channel)
      if (count === undefined) {
        const held = channel.holding()
        const offset = held === undefined ? 0 : settledOf(held)
        settled.set(channel.pointer, offset)
        count = channel.countUpTo(offset)
        counts.set(channel, count)
      }
      return count
    }
    const waits = this.#events.findIndex(({ pieces }) => !pieces.every(({ channel, count }) => upTo(channel) >= count))
    return waits === 0 || this.#events.length === 0 ? undefined : settled
  }

  release(settled: ReadonlyMap<string, number> | undefined, replacements: readonly Replacement[]): Released {
    let redacted = 0
    const { own, inner } = this.#byChannel(replacements)
    for (const channel of this.#holding) {
      const upTo = settled === undefined ? Number.POSITIVE_INFINITY : (settled.get(channel.pointer) ?? 0)
      redacted += channel.settle(upTo, own.get(channel) ?? none, inner.get(channel) ?? none)
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
    this.#units = 0
    for (const channel of this.#holding) {
      this.#units += channel.units
      if (channel.isEmpty) this.#holding.delete(channel)
    }
    this.#forget()
    return { frames, redacted }
  }

  /** Replacements by channel: as spans of its text, or of the JSON in its text. */
  #byChannel(replacements: readonly Replacement[]) {
    const own = new Map<Channel, Replacement[]>()
    const inner = new Map<Channel, Replacement[]>()
    const put = (map: Map<Channel, Replacement[]>, channel: Channel, replacement: Replacement) => {
      const list = map.get(channel)
      if (list === undefined) map.set(channel, [replacement])
      else list.push(replacement)
    }
    for (const replacement of replacements) {
      const { pointer } = replacement
      const channel = this.#channels.get(pointer)
      if (channel !== undefined) put(own, channel, replacement)
      for (let end = pointer.lastIndexOf('/'); end > 0; end = pointer.lastIndexOf('/', end - 1)) {
        const around = this.#channels.get(pointer.slice(0, end))
        if (around !== undefined) put(inner, around, { ...replacement, pointer: pointer.slice(end) })
      }
    }
    return { own, inner }
  }

  /** Leaves and media that were judged need not be judged again, whether they have left or wait. */
  #forget(): void {
    for (const event of this.#events) event.media = []
    if (this.#known.size > maxKnown) this.#known.clear()
    for (const id of this.#others.keys()) this.#known.add(id)
    this.#others = new Map()
    this.#runs = this.#runs.filter((run) => run.some((id) => this.#holding.has(this.#channels.get(id)!)))
    for (const pointer of this.#newTokens) {
      this.#tokens.set(pointer, this.#tokens.get(pointer)!.slice(-Channel.tailLength))
    }
    this.#newTokens.clear()
  }

  filtered(facts: TurnFacts): string {
    this.#events = []
    return this.#shape.filtered(facts, this.started)
  }

  end(): string {
    return this.#shape.end()
  }
}

const none: readonly Replacement[] = []

/** Of a leaf that no channel holds. No pointer begins with a line feed. */
function idOf({ pointer, text }: ChatPart): string {
  return `\n${pointer}\n${text}`
}

/**
 * The place of a text without its numbers and without the name of its item: a client shows the texts of one place as one,
 * whatever block or item each stands in. Choices and candidates are answers of their own.
 */
function placeOf(pointer: string): string {
  return pointer.replace(/^\/(?:choices|candidates)\/\d+|^\/items\/[^/]+|\/\d+(?=\/|$)/g, (found, at: number) =>
    at === 0 && /^\/[cC]/.test(found) ? found : '/*'
  )
}

function readEvent(data: string): JsonObject {
  let value: Json
  try {
    value = parseJson(data, { anyNumbers: true })
  } catch {
    throw unreadable('an event is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unreadable('an event is not an object')
  return value
}
