/**
 * The contract of a dialect: reads and writes the shapes of one chat API. No network, no policy, no clock.
 * A new dialect is one file like `openai-chat.ts`, one line in `index.ts`, one test table.
 */
import type { ChatReply, ChatRequest, JsonObject } from '../chat.js'
import type { Fault } from '../errors.js'
import type { DialectId, UpstreamAuth } from '../settings.js'
import type { Denial } from './denial.js'
import type { Replacement } from './rewrite.js'

/** What an assistant turn written by the gateway itself is made from. */
export interface TurnFacts {
  denial: Denial
  /** The request as it was judged: names the model, the streaming options. */
  request: JsonObject
  requestId: string
  /** Seconds since the epoch. */
  created: number
}

/** One server-sent event, already framed (WHATWG HTML, section 9.2). */
export interface ServerSentEvent {
  event?: string | undefined
  data: string
}

/** An answer that comes in pieces. Holds what it was given until it is released. */
export interface ReplyStream {
  /**
   * Takes one event.
   * @returns `end` for the dialect's own end marker, after which nothing is read
   * @throws Fault `upstream_error` for anything that this dialect does not stream
   */
  push(event: ServerSentEvent): 'more' | 'end'
  /** What is held, assembled, with a little of what was released before it, so that a phrase cut in two is still seen whole. */
  content(): ChatReply
  /** Rewrites spans of what `content` gave, wherever their pieces lie. Replacements that lie in released text are left out. */
  rewrite(replacements: readonly Replacement[]): number
  /** The frames of what is held, serialised from the objects that were judged; afterwards nothing is held. */
  release(): string
  /** True once anything was released. */
  readonly started: boolean
  /** Ends the stream in the dialect's own way as filtered, end marker included; what is held is dropped. */
  filtered(facts: TurnFacts): string
  /** The dialect's end marker. */
  end(): string
}

export interface Dialect {
  readonly id: DialectId
  /** The published paths, for routes that the configuration leaves out. */
  readonly paths: readonly string[]
  /** Explicit pass routes: forwarded with a key and without evaluation. Parameters match `parameter`. */
  readonly passPaths: readonly { path: string; parameter?: RegExp }[]
  /** How an upstream of this dialect takes its credential. */
  readonly auth: Exclude<UpstreamAuth, 'none'>
  /** Headers besides X-API-Key and Authorization in which this dialect's SDKs send a key. */
  readonly keyHeaders: readonly string[]
  /** Query parameters that may be sent, each with the pattern of its value; forwarded as given. */
  readonly query: Readonly<Record<string, RegExp>>
  /** Request headers of this dialect, lower case, that are forwarded as given. */
  readonly requestHeaders: readonly string[]
  /** Response headers of this dialect, lower case, that are forwarded as given. */
  readonly responseHeaders: readonly string[]

  /** @throws Fault `validation_error` that names the field */
  readRequest(body: JsonObject): ChatRequest
  /** @returns undefined where the object is no successful answer of this dialect */
  readReply(body: JsonObject): ChatReply | undefined
  /** Every leaf of an upstream's error. */
  readError(body: JsonObject): ChatReply
  openStream(): ReplyStream

  /** The pointer that a client can act on: the message, where the leaf lies in one. */
  offender(pointer: string): string
  error(fault: Fault, requestId: string): JsonObject
  /** The error of a denial; its status is in `denialTable`. */
  denied(denial: Denial, requestId: string): JsonObject
  /** An assistant turn: the native refusal for `forbid`, a sentence for `divert` and `depends`. */
  turn(facts: TurnFacts): JsonObject
  /** The same turn as a whole stream, end marker included. */
  turnStream(facts: TurnFacts): string
  /** The dialect's filtered finish of an answer; nothing of its text remains. */
  filtered(reply: JsonObject, facts: TurnFacts): JsonObject
  /** Takes out of a rewritten answer what would repeat its former text (token probabilities). */
  forgetTokens(reply: JsonObject): void
  /** A frame that tells a client of a failure in mid-stream. Never followed by the end marker. */
  errorFrame(fault: Fault, requestId: string): string
}
