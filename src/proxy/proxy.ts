/**
 * The proxy of one configuration: its route table, its upstreams, and the stages of an exchange with their
 * dependencies. A reload makes a new one.
 */
import { type Budget, defaultBudget } from '../base/budget.js'
import type { Clock } from '../base/clock.js'
import type { RouteSettings, UpstreamSettings } from '../base/settings.js'
import type { Files } from '../files/file.js'
import type { Admission } from '../identity/admission.js'
import { Judging, type JudgingDeps } from '../observe/judging.js'
import type { Log } from '../observe/log.js'
import type { Metrics } from '../observe/metrics.js'
import type { Tracing } from '../observe/tracing.js'
import type { UpstreamRecorder } from '../observe/upstream-answers.js'
import type { SessionStore } from '../policy/evaluate/session.js'
import type { Evaluator } from '../policy/evaluation.js'
import { shippedWording, type Wording } from '../wording/wording.js'
import { Answers } from './answer/answer.js'
import { Streams } from './answer/stream.js'
import { Clarifier, type Keeping } from './clarify.js'
import { Denials } from './denials.js'
import { Funnel } from './funnel.js'
import type { Propagate } from './headers.js'
import { Sessions } from './realtime/sessions.js'
import { MediaStage } from './request/media.js'
import { Requests } from './request/request.js'
import { compileRoutes, type Route, type RouteTable } from './request/routes.js'
import { ReviewDesk, type Reviews } from './review.js'
import { Sender, type Transport } from './upstream/send.js'
import { closeUpstreams, openUpstreams, type Upstreams } from './upstream/upstreams.js'
import { Verdicts } from './verdict.js'

/** Bytes of an answer that is not streamed. */
const defaultAnswerLimit = 16 * 1024 * 1024

export interface ProxyDeps extends JudgingDeps<Evaluator> {
  reviews: Reviews
  clock: Clock
  /** Without sessions no request is linked to the answer that it continues. */
  sessions?: Pick<SessionStore, 'get' | 'update'>
  /** Texts for people. Default: the shipped ones. */
  wording?: Wording
  /** Stores clarification questions; without it none are asked. */
  keeping?: Keeping
  metrics: Metrics
  /** Counts answers of upstreams, and audits failures. */
  answered: UpstreamRecorder
  log: Log
  /** For realtime sessions, which outlive their first admission: they check their key again, and pay for each event. */
  admission: Pick<Admission, 'admit' | 'charge'>
  /** Limits of one request. Default: `defaultBudget`. */
  budget?: Budget
  /** Adds the trace context for an upstream; undefined: the client's own headers pass. */
  propagate?: Propagate | undefined
  /** Is told when a session ends, since no response marks its end. */
  tracing?: Pick<Tracing, 'end'> | undefined
  /** The name of the constitution that judges a route. Default: the configuration's. */
  constitutionOf?: (route: Route) => string
  /** Reads files, where a route says so. Without it such files are denied. */
  files?: Pick<Files, 'read'> | undefined
  /** Transcribes sound, likewise. */
  transcriber?: Pick<Files, 'read'> | undefined
  /** Bytes of an answer that is not streamed. Default 16 MiB. */
  answerLimit?: number
}

export interface ProxySettings {
  routes: readonly RouteSettings[]
  upstreams: Readonly<Record<string, UpstreamSettings>>
}

export interface ChatProxy {
  readonly table: RouteTable
  readonly upstreams: Upstreams
  /** Judges, and forwards what is permitted. */
  readonly funnel: Funnel
  /** The stages of an exchange, for faces that run them one by one. */
  readonly stages: Readonly<{ requests: Requests; answers: Answers; streams: Streams }>
  /** Sends over undici. */
  readonly sender: Sender
  /** The sender's, or one around it. */
  readonly transport: Transport
  /** Sessions of the Realtime API. */
  readonly sessions: Sessions
  readonly metrics: Metrics
  readonly answered: UpstreamRecorder
  readonly clock: Clock
  readonly log: Log
  /** Waits for the exchanges under way. */
  close(): Promise<void>
}

/** @throws Error for routes that contradict each other or name an unknown upstream */
export function createProxy(deps: ProxyDeps, settings: ProxySettings): ChatProxy {
  const { evaluator, clock, metrics, log, propagate, budget = defaultBudget, answerLimit = defaultAnswerLimit } = deps
  const table = checkedTable(settings)
  const upstreams = openUpstreams(settings.upstreams)
  const sender = new Sender(upstreams, propagate, answerLimit)
  const verdicts = new Verdicts({ judging: new Judging(deps), clock, metrics })
  const { wording = shippedWording, keeping } = deps
  const { constitutionOf = ({ constitution }: Route) => constitution } = deps
  const denials = new Denials(wording)
  const clarifier = new Clarifier({ keeping, wording, clock, metrics, log })
  const reviews = new ReviewDesk(deps.reviews, denials)
  const media = new MediaStage({ file: deps.files, audio: deps.transcriber }, budget)
  const requests = new Requests({
    evaluator,
    verdicts,
    media,
    denials,
    clarifier,
    reviews,
    clock,
    budget,
    constitutionOf
  })
  const answers = new Answers({ media, verdicts, denials, reviews, sessions: deps.sessions, answerLimit })
  const { admission, tracing, transcriber } = deps
  const streams = new Streams({ answers, denials, reviews, evaluator, transcriber, clock, metrics })
  const stages = { requests, answers, streams }
  const sessions = new Sessions({ ...stages, verdicts, admission, budget, transcriber, clock, metrics, log, tracing })
  return {
    table,
    upstreams,
    funnel: new Funnel({ ...stages, clock, metrics, answered: deps.answered, log }),
    answered: deps.answered,
    stages,
    sender,
    transport: sender.transport,
    sessions,
    metrics,
    clock,
    log,
    async close() {
      await sessions.drain(0)
      await closeUpstreams(upstreams)
    }
  }
}

function checkedTable({ routes, upstreams }: ProxySettings): RouteTable {
  for (const { id, upstream, divert } of routes) {
    for (const name of [upstream, ...(divert === 'queue' ? [] : [divert.upstream])]) {
      if (!Object.hasOwn(upstreams, name)) throw new Error(`routes: ${id} names the unknown upstream ${name}`)
    }
  }
  for (const { name, fallback } of Object.values(upstreams)) {
    const unknown = fallback.find((other) => !Object.hasOwn(upstreams, other))
    if (unknown !== undefined) throw new Error(`upstreams: ${name} names the unknown fallback ${unknown}`)
  }
  return compileRoutes(routes)
}
