/** One proxied exchange from its first byte to its last. Transport-free: every face fills the same shapes. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { ChatRequest, JsonObject } from '../base/chat.js'
import { Fault } from '../base/errors.js'
import type { Target } from '../dialects/dialect.js'
import { maxSessionId, sessionIdPattern } from '../edge/evaluate-input.js'
import { isComplete } from '../edge/http2.js'
import type { Caller } from '../identity/caller.js'
import type { Evaluation, HeldPolicy, Said, Settled } from '../policy/evaluation.js'
import type { PathEntry, Route } from './request/routes.js'

/** What a face knows before the body is read. The caller is admitted already. */
export interface Inbound {
  readonly entry: PathEntry
  readonly headers: IncomingHttpHeaders
  readonly target: Target
  readonly caller: Caller
  readonly requestId: string
  /** Monotonic ms at which the request came. */
  readonly started: number
  /** Cancelled by the face when the client leaves, and by the transport when the exchange takes too long. */
  readonly cancel: Cancel
}

/** What the reader (`request/request.ts`) finds out of a request. */
export interface Read {
  inbound: Inbound
  route: Route
  body: JsonObject
  /** Of the body as it was read, decoded; 0 where it came as an event. */
  bytes: number
  /** The bytes themselves, where every reader takes them for the body as it was read; undefined: it is written anew. */
  sent: Buffer | undefined
  /** What of the body a person is shown, and what a permit is for. */
  reviewed: JsonObject
  chat: ChatRequest
  /** The keys of the caller's context that count on the route. */
  context: JsonObject | undefined
  /** `<account>:<session id>` */
  session: string | undefined
  /** Judges the request and all of its answer, whatever is put in force meanwhile. */
  policy: string | HeldPolicy
  /** By the wall clock, ms. */
  readAt: number
}

/**
 * All that the stages tell each other of one exchange. It has every field from its start, and each of them has one writer,
 * which its group names; what one stage keeps for itself is not here, nor is what a stage works with.
 */
export class Exchange implements Readonly<Read> {
  // The reader, request/request.ts; never written again.
  readonly inbound: Inbound
  readonly route: Route
  readonly body: JsonObject
  readonly bytes: number
  readonly sent: Buffer | undefined
  readonly reviewed: JsonObject
  readonly chat: ChatRequest
  readonly context: JsonObject | undefined
  readonly session: string | undefined
  readonly policy: string | HeldPolicy
  readonly readAt: number
  /** The request's system prompts: what they guard, no answer may tell. */
  readonly prompts: readonly string[]

  // What people have answered, clarify.ts.
  /** Of texts in it about which they were asked. */
  settled: readonly Settled[] | undefined = undefined

  // The verdicts, verdict.ts.
  /** The verdict over the request; undefined where it got none. */
  requestVerdict: Evaluation | undefined = undefined
  /** The stricter of the verdicts so far: what the response headers of a whole answer tell. */
  verdict: Evaluation | undefined = undefined
  /** The turns before this one in its session, as they counted. */
  recalled: readonly Said[] | undefined = undefined
  /** Time in the evaluator, ms. */
  evaluationMs = 0
  /** How many spans were redacted, in request and answer. */
  redacted = 0
  /** Why some of it was forwarded unjudged. */
  unjudged: Set<string> | undefined = undefined

  // What is told, denials.ts.
  /** The language of the sentence in the place of the answer. */
  saidIn: string | undefined = undefined

  // The reviews, review.ts.
  /** The review that was opened or that the caller named. */
  reviewId: string | undefined = undefined

  // The answers, answer/answer.ts.
  /** Whether its session stands under its answer's id too. */
  isForked = false

  // The funnel, funnel.ts.
  /** Time in the upstream, ms: until its last byte; while a stream comes, until its first text left. */
  upstreamMs = 0

  constructor({ inbound, route, body, bytes, sent, reviewed, chat, context, session, policy, readAt }: Read) {
    this.inbound = inbound
    this.route = route
    this.body = body
    this.bytes = bytes
    this.sent = sent
    this.reviewed = reviewed
    this.chat = chat
    this.context = context
    this.session = session
    this.policy = policy
    this.readAt = readAt
    this.prompts = promptsOf(chat)
  }
}

const noPrompts: readonly string[] = []

function promptsOf({ parts }: ChatRequest): readonly string[] {
  let prompts: string[] | undefined
  for (const { role, isKey, text } of parts) {
    if (role !== 'system' || isKey === true) continue
    prompts ??= []
    prompts.push(text)
  }
  return prompts ?? noPrompts
}

const identifier = new RegExp(sessionIdPattern)

/** A name that a caller gives: of a session, an answer, a review. */
export function isIdentifier(text: string): boolean {
  return text.length > 0 && text.length <= maxSessionId && identifier.test(text)
}

/**
 * The session that stands under the id of an answer, so that a request which goes on from there is judged with what was
 * said before it. Callers may write these names too, for their own account's sessions only.
 */
export function answerSession(account: string, id: string): string {
  return `${account}:answer.${id}`
}

/** What is to be sent to an upstream: bytes that say the very object that was judged. */
export interface Forward {
  /** Name of the upstream. */
  upstream: string
  bytes: Buffer
  /** Media type of the bytes. */
  type: string
}

/** A whole answer, or one of which the first part is judged and the rest still comes. */
export interface Reply {
  status: number
  headers: Record<string, string>
  body: string | Buffer
  rest?: ReplyRest
}

export interface ReplyRest {
  /** How the characters of a frame are bytes. */
  encoding: 'utf8' | 'latin1'
  frames: AsyncGenerator<string, string, undefined>
  /** The frame for a failure in mid-stream, after which the connection is destroyed. */
  broken(error: unknown): string
}

/** The client left: there is nobody to answer. */
export class ClientGone extends Error {
  constructor() {
    super('the client closed the connection')
    this.name = 'ClientGone'
  }
}

/** Work that an exchange's end stops. */
export interface Cancellable {
  /** Called once. */
  cancelled(reason: Error): void
}

/**
 * Ends one exchange at any phase, for one reason, once. An AbortController does the same at several times the cost, and
 * every exchange has one.
 */
export class Cancel {
  #reason: Error | undefined
  #carrier: Cancellable | undefined
  #others: Set<(reason: Error) => void> | undefined

  /** Why the exchange was ended; undefined while it goes on. */
  get reason(): Error | undefined {
    return this.#reason
  }

  cancel(reason: Error): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#carrier?.cancelled(reason)
    if (this.#others !== undefined) for (const listener of [...this.#others]) listener(reason)
  }

  /** The one transport that carries the exchange now is told; at once, where the exchange has ended already. */
  carriedBy(carrier: Cancellable): void {
    this.#carrier = carrier
    if (this.#reason !== undefined) carrier.cancelled(this.#reason)
  }

  /** Whoever else works for the exchange is told too, beside the transport. @returns what takes the listener off again */
  onCancel(listener: (reason: Error) => void): () => void {
    this.#others ??= new Set()
    this.#others.add(listener)
    return () => this.#others?.delete(listener)
  }

  /** Ends with `upstream_timeout` an exchange that takes longer than `ms` in all. @returns the timer, to be cleared */
  after(ms: number): NodeJS.Timeout {
    return setTimeout(timeOut, ms, this)
  }
}

function timeOut(cancel: Cancel): void {
  cancel.cancel(new Fault('upstream_timeout'))
}

/** Cancels the exchange when the client leaves before its response is complete. */
export function cancelOnLeave(response: ServerResponse): Cancel {
  const cancel = new Cancel()
  response.once('close', () => {
    if (!isComplete(response)) cancel.cancel(new ClientGone())
  })
  return cancel
}
