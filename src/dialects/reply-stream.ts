/**
 * The contracts of a streamed answer: through `ReplyStream` the proxy holds and releases events; `StreamShape`
 * describes the differences of each API. One class, `HeldStream`, makes the first of the second.
 */
import type { ChatReply, JsonObject, Media } from '../base/chat.js'
import { Fault } from '../base/errors.js'
import type { HeldText, Holder } from './channel.js'
import type { TurnFacts } from './denial.js'
import type { StreamFailure } from './failure.js'
import type { Replacement } from './rewrite.js'
import type { Collector } from './walk.js'

/** The transcript of a piece of sound. */
export interface HeardSound {
  text: string
  /** The byte of silence, which replaces withheld sound. */
  silence: number
}

/** One event as the wire gave it, without its framing. */
export interface WireEvent {
  /** Set for transcribed sound: see `HeardSound`. */
  heard?: HeardSound | undefined
  /** The event's name, where the framing has names (WHATWG HTML, section 9.2). */
  event?: string | undefined
  /** The id for resuming, where the framing has one. */
  id?: string | undefined
  data: string
}

export type Pushed = 'more' | 'end' | 'failed'

export interface ReplyStream {
  /**
   * Takes one event.
   * @returns `end` for the dialect's own end, after which nothing is read; `failed` for the upstream's error, which is
   * not held: see `failure`
   * @throws Fault `upstream_error` for anything that this dialect does not stream
   */
  push(event: WireEvent): Pushed
  /** The error that the upstream has sent. No verdict covers it yet. */
  readonly failure: StreamFailure | undefined
  /** The frame of an event that tells of the failure. */
  failed(event: JsonObject): string
  /** From now on `push` throws `upstream_error` where events hold the secret, or spell it out in pieces. */
  watch(secret: string): void
  /** Whether the held text may be the beginning of the secret, so that it should wait. */
  readonly isSpelling: boolean
  /** True where the upstream may stop here: its answer is complete. */
  readonly complete: boolean
  /** The held text, assembled, with some released text before it, so that a phrase cut in two is judged whole. */
  content(): ChatReply
  /** UTF-16 units that judging the held text reads, including the cost of events. */
  readonly weight: number
  /** Units that have arrived or were closed so far: the change since a look is the difference. */
  readonly came: number
  /** The channels with held text; an unchanged channel keeps its object. */
  holding(): readonly HeldText[]
  /**
   * The settled lengths of the channels that may release text.
   * @param settledOf called once for each, in the order of leaving, until one has to wait
   * @returns the input of `release`; undefined where nothing could leave
   */
  leaving(settledOf: (held: HeldText) => number): ReadonlyMap<string, number> | undefined
  /**
   * The frames of held events that may leave, serialised from the objects that were judged.
   * @param settled by pointer of a channel, how much of its text from `content` may leave; undefined: everything
   * @param replacements spans in the text from `content`; applied where the span may leave
   */
  release(settled: ReadonlyMap<string, number> | undefined, replacements: readonly Replacement[]): Released
  /** See `ChatReply.id`, once the stream has told it. */
  readonly answerId: string | undefined
  /** True once anything was released. */
  readonly started: boolean
  /** Ends the stream in the dialect's own way as filtered, end marker included; held text is dropped. */
  filtered(facts: TurnFacts): string
  /** The text after the last event: the dialect's end marker, or nothing. */
  end(): string
}

export interface Released {
  frames: string
  /** How many spans were replaced. */
  redacted: number
}

/** Receives the contents of an event from a shape. */
export interface StreamSink {
  /** A string of the event that continues a channel. Arguments are JSON: they leave when the channel is closed. */
  delta(pointer: string, holder: Holder, key: string, kind?: 'text' | 'arguments'): void
  /** A string of the event that repeats a channel's whole text. Closes the channel. */
  repeat(pointer: string, holder: Holder, key: string, kind?: 'text' | 'arguments'): void
  /** Text that repeats channels (token probabilities): judged joined, never waited for. */
  tokens(pointer: string, text: string): void
  /** Notes channels whose texts are read as one, as long as one of them is held. */
  join(pointers: readonly string[]): void
  /** Closes the channels whose pointers begin with this prefix. */
  close(prefix: string): void
  media(pointer: string, kind: Media['kind']): void
  /** Everything else: judged once, however often it comes. */
  readonly rest: Collector
}

/** The shape of an API's streams. One instance per stream, which may track what the client has seen. */
export interface StreamShape {
  /** The API's own field names and enumerated values. */
  readonly names: ReadonlySet<string>
  /** The data of an end marker that is no JSON. */
  readonly endMarker: string | undefined
  /** True where whole texts are repeated (`repeat`): they are then kept. */
  readonly repeats: boolean
  /**
   * Where an event holds another, the one that is read, and later given to `frame`.
   * @throws Fault `upstream_error`
   */
  unwrap?(event: WireEvent): WireEvent
  /**
   * Reads one event.
   * @returns `end` where it is the last; `failed` for an error, which is given as `failure` and not to the sink
   * @throws Fault `upstream_error`, see `unreadable`
   */
  read(event: JsonObject, sink: StreamSink, name: string | undefined, heard?: HeardSound): Pushed
  readonly failure?: StreamFailure | undefined
  /** See `ChatReply.id`, once the stream has told it. */
  readonly answerId?: string | undefined
  /** See `ReplyStream.complete`. */
  readonly complete: boolean
  /** One event as it is sent; `first` for the first of the stream. */
  frame(event: JsonObject, name: string | undefined, first: boolean): string
  /** Called with each event that leaves, in order. */
  left(event: JsonObject): void
  /** Removes the token probabilities from an event whose text was rewritten, or from a later one. */
  forgetTokens(event: JsonObject): void
  filtered(facts: TurnFacts, started: boolean): string
  end(): string
}

/** The fault for an event that this dialect cannot read. */
export function unreadable(internal: string): Fault {
  return new Fault('upstream_error', { internal })
}
