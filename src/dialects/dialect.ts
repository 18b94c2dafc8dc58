/**
 * The contract of a dialect: reads and writes the shapes of one operation of a chat API. No network, no policy, no clock.
 * CONTRIBUTING.md says what a new dialect touches.
 */
import type { ChatReply, ChatRequest, JsonObject, Target } from '../base/chat.js'
import type { Fault } from '../base/errors.js'
import type { DialectId, UpstreamAuth } from '../base/settings.js'
import type { Denial, TurnFacts } from './denial.js'
import type { FormFiles } from './form.js'
import type { ReplyStream } from './reply-stream.js'
import type { SoundFormat, SpelledSound } from './sound.js'

export type { Target } from '../base/chat.js'
export type { TurnFacts } from './denial.js'

export interface PassPath {
  /** `:id` stands for a parameter, at the end. */
  path: string
  parameter?: RegExp
  /** As `Dialect.query`. */
  query?: Readonly<Record<string, RegExp>>
}

/** Framing of a streamed answer on the wire. */
export type Framing = 'sse' | 'ndjson' | 'json-array' | 'aws-event-stream'

/** A pattern of the whole value; `model`: the model that the client asked for, or a dated snapshot of it. */
export type HeaderForm = RegExp | 'model'

/** A request header that passes in its documented form, which has no room for free text. */
export interface RequestHeader {
  form: RegExp
  /** The form in words. In any other form the request is refused; without these words the header is left out. */
  accepted?: string
}

/** Lets requests continue from an answer that the gateway wrote and no upstream knows. */
export interface Chain {
  /** The id of the answer that a request continues. */
  after(body: JsonObject): string | undefined
  /** The id of an answer of the gateway's own. */
  idOf(requestId: string): string
  /** The part of a request that a later one needs to continue. */
  kept(body: JsonObject): JsonObject
  /** Adds the earlier turns to a body. @param said the gateway's answer */
  resume(body: JsonObject, kept: JsonObject, said: string): void
}

export interface Judged {
  /** Surfaces. */
  request: 'mcp_call'
  answer: 'mcp_definition' | 'mcp_result'
  /** Direction whose rules apply to the answer. A tool's result is input to a model. */
  answeredAs: 'request' | 'answer'
}

/** Answers in plain UTF-8 text instead of JSON. */
export interface TextAnswers {
  /** Their media types. */
  types: ReadonlySet<string>
  /** The object that `readReply` is given. */
  read(text: string): JsonObject
  /** Writes the text of an object that may have been redacted. */
  write(body: JsonObject): string
}

export interface Dialect {
  readonly id: DialectId | 'mcp'
  /**
   * End of the upstream path of this operation; it distinguishes the operations of one dialect. Empty for a dialect of
   * one operation.
   */
  readonly suffix: string
  /** The published paths, for routes that the configuration leaves out. `{name}` stands for a parameter. */
  readonly paths: readonly string[]
  /** True where clients speak over a WebSocket: `readRequest` then reads one of their events, and a stream is one response. */
  readonly isSocket?: true
  /**
   * The pattern of each parameter that paths of this dialect may have, without anchors, as it stands in a raw target;
   * none may match a slash. For percent-encoded characters a pattern accepts one spelling.
   */
  readonly parameters: Readonly<Record<string, RegExp>>
  /** Explicit pass routes: forwarded with a key and without evaluation. */
  readonly passPaths: readonly PassPath[]
  /** Paths of the API that are refused by name, each with the reason that a client is told. */
  readonly refusedPaths?: Readonly<Record<string, string>>
  /** How an upstream of this dialect takes its credential. */
  readonly auth: Exclude<UpstreamAuth, 'none' | 'aws'>
  /** Headers besides X-API-Key and Authorization in which this dialect's SDKs send a key. */
  readonly keyHeaders: readonly string[]
  /** Query parameters that may be sent, each with the pattern of its value; forwarded as given. */
  readonly query: Readonly<Record<string, RegExp>>
  /** Request headers of this dialect, lower case, that are forwarded as given: no verdict covers them, so each has a form. */
  readonly requestHeaders: Readonly<Record<string, RequestHeader>>
  /** Response headers of this dialect, lower case, each with its documented form: in any other it is dropped. */
  readonly responseHeaders: Readonly<Record<string, HeaderForm>>
  /**
   * A further header with the request's id for this dialect's SDKs, besides `x-request-id`, on the gateway's own
   * answers.
   */
  readonly requestIdHeader?: string

  /** False where an answer has no place for a sentence (`turnless.ts`): a refusal is then an error, whatever `respond` says. */
  readonly hasTurns: boolean

  /** Metrics surface and judging of answers, where they differ from a chat. */
  readonly judged?: Judged
  /** The file fields of a form body. `readRequest` then gets the object from `form.ts`. */
  readonly form?: FormFiles
  /** Set where an answer may be plain text. */
  readonly textAnswers?: TextAnswers
  /**
   * True where an answer consists of sound alone (`proxy/answer/sound.ts`): it passes unjudged, and is reported as
   * such.
   */
  readonly answersWithSound?: true

  /** True where a request repeats the conversation, so that a person can answer a question in the next one. */
  readonly isConversation?: true
  /** Set where a request may name the answer that it continues, instead of repeating the conversation. */
  readonly chain?: Chain

  /** @throws Fault `validation_error` that names the field */
  readRequest(body: JsonObject, target: Target): ChatRequest
  /** @returns undefined where the object is no successful answer of this dialect */
  readReply(body: JsonObject): ChatReply | undefined
  /** Every leaf of an upstream's error. */
  readError(body: JsonObject): ChatReply
  /** How a streamed answer to this target comes, and how it is sent on. */
  framing(target: Target): Framing
  openStream(target: Target): ReplyStream
  /**
   * Reads the sound of a streamed answer for transcription. Without this method, or where it returns undefined, sound
   * stays in its events and counts as media.
   */
  spelledSound?(request: JsonObject): SpelledSound | undefined
  /**
   * The format of a whole answer's sound, where it is samples without a container. @param claim its type, lower case
   */
  sampleFormat?(request: JsonObject, claim: string): SoundFormat | undefined

  /** The pointer that a client can act on: the message, where the leaf lies in one. */
  offender(pointer: string): string
  error(fault: Fault, requestId: string): JsonObject
  /** Headers in which this dialect's SDKs find the kind of an error. */
  errorHeaders?(status: number): Record<string, string>
  /** The error of a denial; its status is `refusalOf`'s. */
  denied(denial: Denial, requestId: string): JsonObject
  /** An assistant turn: the native refusal for `forbid`, a sentence for `divert` and `depends`. */
  turn(facts: TurnFacts): JsonObject
  /** The same turn as a whole stream, end marker included. */
  turnStream(facts: TurnFacts): string
  /** The dialect's filtered finish of an answer; nothing of its text remains. */
  filtered(reply: JsonObject, facts: TurnFacts): JsonObject
  /** Removes fields that repeat the original text of a rewritten answer (token probabilities). */
  forgetTokens(reply: JsonObject): void
  /** A frame that tells a client of a failure in mid-stream. Never followed by the end marker. */
  errorFrame(fault: Fault, requestId: string, target: Target): string
}
