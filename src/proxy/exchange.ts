/** What is known of one proxied exchange from its first byte to its last. Transport-free: both edges fill the same shape. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Budget } from '../base/budget.js'
import type { ChatRequest, JsonObject } from '../base/chat.js'
import type { Clock } from '../base/clock.js'
import type { Target } from '../dialects/dialect.js'
import type { Admission } from '../identity/admission.js'
import type { Caller } from '../identity/caller.js'
import type { Log } from '../observe/log.js'
import type { Metrics } from '../observe/metrics.js'
import type { Recorder } from '../observe/record.js'
import type { Tracing } from '../observe/tracing.js'
import type { UnjudgedRecorder } from '../observe/unjudged.js'
import type { Evaluation, Evaluator, HeldPolicy } from '../policy/evaluation.js'
import type { Exceptions } from '../policy/exceptions.js'
import type { Cancellation } from '../policy/judges.js'
import type { SessionStore } from '../policy/session.js'
import type { Opened, ReviewedRequest, ReviewRequest, Standing } from '../review/review.js'
import type { Cancel } from './cancel.js'
import type { Propagate } from './headers.js'
import type { PathEntry, Route } from './routes.js'

/** The part of the review service that the proxy uses. */
export interface Reviews {
  /** Stores a review, or finds the pending one of the same subject; or tells what of the queue is full. */
  open(review: ReviewRequest): Promise<Opened>
  /** How a person decided over this very request; a permit is used up by being read. */
  consume(subject: ReviewedRequest, reviewId?: string): Promise<Standing>
  /** Waits for the decision, as long as the configuration says; `pending` where none came. */
  hold(subject: ReviewedRequest, reviewId: string, leave: Cancellation): Promise<Standing>
}

/** Bytes of an answer that is not streamed. */
export const defaultAnswerLimit = 16 * 1024 * 1024

export interface ProxyDeps {
  evaluator: Evaluator
  reviews: Reviews
  clock: Clock
  /** Counts, meters and audits each verdict. */
  record: Recorder
  /** What people have excepted for a caller. */
  exceptions(caller: Caller): Exceptions | undefined
  /** Without them no request is tied to the answer that it goes on from. */
  sessions?: Pick<SessionStore, 'get' | 'update'>
  metrics: Metrics
  log: Log
  /** For what lasts longer than its admission: a session asks again, and pays for what it adds. */
  admission: Pick<Admission, 'admit' | 'charge'>
  /** What one request may hold. Default: `defaultBudget`. */
  budget?: Budget
  /** Counts and audits each call that got no verdict. */
  unjudged: UnjudgedRecorder
  /** Whose trace an upstream is told of; undefined: the client's own headers pass. */
  propagate?: Propagate | undefined
  /** Told when a session is over, which no response tells. */
  tracing?: Pick<Tracing, 'end'> | undefined
  /** Bytes of an answer that is not streamed. Default 16 MiB. */
  answerLimit?: number
}

/** What an edge knows before the body is read. The caller is admitted already. */
export interface Inbound {
  entry: PathEntry
  headers: IncomingHttpHeaders
  target: Target
  caller: Caller
  requestId: string
  /** Monotonic ms at which the request came. */
  started: number
  /** Cancelled by the edge when the client leaves, and by the transport when the exchange takes too long. */
  cancel: Cancel
}

export interface Exchange {
  readonly deps: ProxyDeps
  readonly inbound: Inbound
  readonly route: Route
  readonly body: JsonObject
  /** Of the body as it was read, decoded; 0 where it came as an event. */
  readonly bytes?: number
  /** What of it a person is shown, and what a permit is for; undefined: all of it. */
  readonly reviewed?: JsonObject
  readonly chat: ChatRequest
  readonly context: JsonObject | undefined
  readonly session: string | undefined
  /** The turns before it in its session, as they counted. */
  recalled?: readonly string[]
  /** Whether the encoder was asked about what was last judged of the answer. */
  isRaised?: boolean
  /** True once its session stands under its answer's id too. */
  isForked?: boolean
  /** The request's system prompts: what they guard, no answer may tell. */
  readonly prompts: readonly string[]
  /** Judges the request and all of its answer, whatever is put in force meanwhile. */
  readonly policy: string | HeldPolicy
  requestVerdict: Evaluation | undefined
  /** The stricter of the verdicts so far: what the response headers of a whole answer tell. */
  verdict: Evaluation | undefined
  reviewId: string | undefined
  /** True once a part of a streamed answer has left. */
  streaming: boolean
  redacted: number
  /** Why some of it was forwarded unjudged. */
  unjudged?: Set<string>
  /** Time in the evaluator and in the upstream, ms. */
  evaluationMs: number
  upstreamMs: number
}

/** The client left: there is nobody to answer. */
export class ClientGone extends Error {
  constructor() {
    super('the client closed the connection')
    this.name = 'ClientGone'
  }
}

/** A whole answer, or one of which the first part is judged and the rest still comes. */
export interface Reply {
  status: number
  headers: Record<string, string>
  body: string | Buffer
  rest?: ReplyRest
}

export interface ReplyRest {
  frames: AsyncGenerator<string, string, undefined>
  /** The frame for a failure in mid-stream, after which the connection is destroyed. */
  broken(error: unknown): string
}
