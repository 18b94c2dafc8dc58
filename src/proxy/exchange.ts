/**
 * The state of one proxied exchange, from its first byte to its last, without any transport: every face fills the same
 * shapes.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { ChatRequest, JsonObject } from '../base/chat.js'
import { Fault } from '../base/errors.js'
import type { Target } from '../dialects/dialect.js'
import { maxSessionId, sessionIdPattern } from '../edge/evaluate-input.js'
import { isComplete } from '../edge/http2.js'
import type { Caller } from '../identity/caller.js'
import type { Evaluation, HeldPolicy, Said, Settled } from '../policy/evaluation.js'
import type { PathEntry, Route } from './request/routes.js'

/** Facts about a request before its body is read. The caller is admitted already. */
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

/** Facts that the reader (`request/request.ts`) takes from a request. */
export interface Read {
  inbound: Inbound
  route: Route
  body: JsonObject
  /** Bytes of the decoded body; 0 where it came as an event. */
  bytes: number
  /** The original bytes, where every parser reads the same body from them; undefined: the body is serialised anew. */
  sent: Buffer | undefined
  /** The part of the body that a reviewer sees, and that a permit covers. */
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
 * The data that the stages share about one exchange. All fields exist from the start, and each has one writer, named
 * above its group. Private state and tools of a stage do not belong here.
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
  /** The request's system prompts: no answer may reveal the secrets they guard. */
  readonly prompts: readonly string[]

  // The answers of people, clarify.ts.
  /** Answers about texts of this request. */
  settled: readonly Settled[] | undefined = undefined

  // The verdicts, verdict.ts.
  /** The verdict over the request; undefined where it got none. */
  requestVerdict: Evaluation | undefined = undefined
  /** The stricter of the verdicts so far, for the response headers of a whole answer. */
  verdict: Evaluation | undefined = undefined
  /** The earlier turns of its session that counted in the verdict. */
  recalled: readonly Said[] | undefined = undefined
  /** Time in the evaluator, ms. */
  evaluationMs = 0
  /** How many spans were redacted, in request and answer. */
  redacted = 0
  /** Why some of it was forwarded unjudged. */
  unjudged: Set<string> | undefined = undefined

  // The reply to the client, denials.ts.
  /** The language of the sentence in the place of the answer. */
  saidIn: string | undefined = undefined

  // The reviews, review.ts.
  /** The review that was opened or that the caller named. */
  reviewId: string | undefined = undefined

  // The answers, answer/answer.ts.
  /** Whether its session is stored under its answer's id too. */
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

/** Whether a text has the form of an id that a caller gives for a session, an answer or a review. */
export function isIdentifier(text: string): boolean {
  return text.length > 0 && text.length <= maxSessionId && identifier.test(text)
}

/**
 * The session name of an answer: a request that continues from the answer is judged with the turns before it. Callers
 * can write such names too, but reach only sessions of their own account.
 */
export function answerSession(account: string, id: string): string {
  return `${account}:answer.${id}`
}

/** A permitted request for an upstream: its bytes serialise exactly the judged object. */
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

  /** Sets the one transport to cancel; cancels it at once where the exchange has ended already. */
  carriedBy(carrier: Cancellable): void {
    this.#carrier = carrier
    if (this.#reason !== undefined) carrier.cancelled(this.#reason)
  }

  /** Adds a listener beside the transport. @returns a function that removes the listener */
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
