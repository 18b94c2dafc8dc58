/**
 * The contracts of an answer that comes in pieces: `ReplyStream` is what the proxy holds and lets go, `StreamShape` what
 * differs from API to API. One class, `HeldStream`, makes the first of the second.
 */
import type { ChatReply, JsonObject, Media } from '../base/chat.js'
import { Fault } from '../base/errors.js'
import type { HeldText, Holder } from './channel.js'
import type { TurnFacts } from './denial.js'
import type { Replacement } from './rewrite.js'
import type { Collector } from './walk.js'

/** What was heard in a piece of sound. */
export interface HeardSound {
  text: string
  /** The byte that stands for what may not be heard. */
  silence: number
}

/** One event as the wire gave it, without its framing. */
export interface WireEvent {
  /** Where it is sound that was heard: see `HeardSound`. */
  heard?: HeardSound | undefined
  /** The event's name, where the framing has names (WHATWG HTML, section 9.2). */
  event?: string | undefined
  /** Where to go on from after a break, where the framing has that. */
  id?: string | undefined
  data: string
}

export interface ReplyStream {
  /**
   * Takes one event.
   * @returns `end` for the dialect's own end, after which nothing is read
   * @throws Fault `upstream_error` for anything that this dialect does not stream
   */
  push(event: WireEvent): 'more' | 'end'
  /** From now on `push` throws `upstream_error` where events hold the secret, or spell it out in pieces. */
  watch(secret: string): void
  /** Whether what is held may go on to spell it: better waited for. */
  readonly isSpelling: boolean
  /** True where the upstream may stop without another word: its answer is complete as it stands. */
  readonly complete: boolean
  /** What is held, assembled, with a little of what was released before it, so that a phrase cut in two is still seen whole. */
  content(): ChatReply
  /** UTF-16 units that a look at what is held reads, events counted too. */
  readonly weight: number
  /** Those that have come so far, and those that were closed: what may have changed since a look. */
  readonly came: number
  /** The channels of which something is held; the same object for one that has not changed. */
  holding(): readonly HeldText[]
  /**
   * How far the channels are settled of which something may leave.
   * @param settledOf asked once for each, in the order in which events leave, until one has to wait
   * @returns what `release` takes; undefined where it would let nothing go
   */
  leaving(settledOf: (held: HeldText) => number): ReadonlyMap<string, number> | undefined
  /**
   * The frames of held events that may leave, serialised from the objects that were judged.
   * @param settled by pointer of a channel, how much of the text that `content` gave may leave; undefined: everything
   * @param replacements spans of what `content` gave; applied where the span may leave
   */
  release(settled: ReadonlyMap<string, number> | undefined, replacements: readonly Replacement[]): Released
  /** See `ChatReply.id`, once the stream has told it. */
  readonly answerId: string | undefined
  /** True once anything was released. */
  readonly started: boolean
  /** Ends the stream in the dialect's own way as filtered, end marker included; what is held is dropped. */
  filtered(facts: TurnFacts): string
  /** What follows the last event: the dialect's end marker, or nothing. */
  end(): string
}

export interface Released {
  frames: string
  /** How many spans were replaced. */
  redacted: number
}

/** Where a shape puts what it finds in an event. */
export interface StreamSink {
  /** A string of the event that continues a channel. Arguments are JSON: they leave when the channel is closed. */
  delta(pointer: string, holder: Holder, key: string, kind?: 'text' | 'arguments'): void
  /** A string of the event that says a channel's whole text once more. Closes the channel. */
  repeat(pointer: string, holder: Holder, key: string, kind?: 'text' | 'arguments'): void
  /** Text beside the channels that spells them again (token probabilities): judged joined, never waited for. */
  tokens(pointer: string, text: string): void
  /** Nothing will be added to the channels whose pointers begin so. */
  close(prefix: string): void
  media(pointer: string, kind: Media['kind']): void
  /** Everything else: judged once, however often it comes. */
  readonly rest: Collector
}

/** What an API's streams look like. One instance per stream: it may remember what the client has seen. */
export interface StreamShape {
  /** The API's own field names and enumerated values. */
  readonly names: ReadonlySet<string>
  /** The data of an end marker that is no JSON. */
  readonly endMarker: string | undefined
  /** True where texts are said again as a whole (`repeat`): they are then kept. */
  readonly repeats: boolean
  /**
   * Where an event holds another, the one that is read, and later given to `frame`.
   * @throws Fault `upstream_error`
   */
  unwrap?(event: WireEvent): WireEvent
  /**
   * Reads one event.
   * @returns `end` where it is the last
   * @throws Fault `upstream_error`, see `unreadable`
   */
  read(event: JsonObject, sink: StreamSink, name: string | undefined, heard?: HeardSound): 'more' | 'end'
  /** See `ChatReply.id`, once the stream has told it. */
  readonly answerId?: string | undefined
  /** See `ReplyStream.complete`. */
  readonly complete: boolean
  /** One event as it is sent; `first` for the first of the stream. */
  frame(event: JsonObject, name: string | undefined, first: boolean): string
  /** Told of each event that leaves, in order. */
  left(event: JsonObject): void
  /** Takes the token probabilities out of an event whose text was rewritten, or of one after it. */
  forgetTokens(event: JsonObject): void
  filtered(facts: TurnFacts, started: boolean): string
  end(): string
}

/** What an upstream sent that this dialect does not stream. */
export function unreadable(internal: string): Fault {
  return new Fault('upstream_error', { internal })
}
