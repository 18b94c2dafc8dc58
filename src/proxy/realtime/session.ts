/**
 * One session of the Realtime API, from the moment both sides are connected: its state, its time limits and its end.
 * Its halves are `requests.ts` and `answers.ts`; `sessions.ts` puts them together.
 */
import type { Budget } from '../../base/budget.js'
import type { ChatRequest, JsonObject } from '../../base/chat.js'
import type { Clock } from '../../base/clock.js'
import { Fault } from '../../base/errors.js'
import type { LetGo, Places } from '../../base/places.js'
import { faultError, writeEvent } from '../../dialects/openai-realtime/write.js'
import type { Files } from '../../files/file.js'
import type { Admission } from '../../identity/admission.js'
import { describeError, type Log } from '../../observe/log.js'
import type { Metrics } from '../../observe/metrics.js'
import type { Tracing } from '../../observe/tracing.js'
import type { Answers } from '../answer/answer.js'
import type { Streams } from '../answer/stream.js'
import { ClientGone, type Exchange, type Forward, type Inbound, type Reply } from '../exchange.js'
import type { Requests } from '../request/request.js'
import type { Route } from '../request/routes.js'
import { isHeard } from '../sound/ear.js'
import type { Upstream } from '../upstream/upstreams.js'
import type { Verdicts } from '../verdict.js'
import { Conversation } from './conversation.js'
import { Ears } from './ears.js'
import type { Peer } from './peer.js'

/** Time between checks for reasons to end a session, ms. */
const tickMs = 1000
/** Time between pings to each side, ms; a missing answer shows at the next ping. */
const pingMs = 20_000
/** Without an event from either side, ms. */
const idleMs = 15 * 60_000

/** Cause of a session's end: the closed set of the metric's label. */
export type End = 'client' | 'upstream' | 'refused' | 'key' | 'idle' | 'stopped' | 'failed'

/** Dependencies of sessions, from one configuration. */
export interface SessionDeps {
  requests: Requests
  answers: Answers
  streams: Streams
  verdicts: Verdicts
  /** A session checks its key again, and pays for each event. */
  admission: Pick<Admission, 'admit' | 'charge'>
  /** Limits of one event. */
  budget: Budget
  /** Hears sound; without it, sound that a route wants scanned is denied. */
  transcriber: Pick<Files, 'read'> | undefined
  clock: Pick<Clock, 'monotonic'>
  metrics: Pick<Metrics, 'realtimeEnds' | 'realtimeSessions' | 'requests'>
  log: Log
  /** Is told when a session ends, since no response marks its end. */
  tracing: Pick<Tracing, 'end'> | undefined
}

export interface SessionFacts {
  inbound: Inbound
  route: Route
  settings: Pick<Upstream, 'name' | 'key' | 'firstByteTimeoutMs' | 'idleTimeoutMs'>
  /** The client's address, for the key's list. */
  address: string
}

/** The two connected sides. */
export interface Sides {
  client: Peer
  upstream: Peer
}

/** The halves of a session, as the session calls them. */
export interface Halves {
  /** The client's. */
  requests: {
    run(): Promise<void>
    /** Judges the upstream's transcript of the user like written text. */
    judgeSpoken(event: JsonObject, chat: ChatRequest): Promise<{ verdict: Forward | Reply; exchange: Exchange }>
  }
  /** The upstream's. */
  answers: {
    run(): Promise<void>
    readonly isAnswering: boolean
    /** Whether events wait for the client to read them. */
    readonly isBusy: boolean
    close(): void
  }
}

export class Session {
  readonly deps: SessionDeps
  readonly inbound: Inbound
  readonly route: Route
  readonly client: Peer
  readonly upstream: Peer
  readonly credential: string | undefined
  /** Undefined where its sound is not heard. */
  readonly ears: Ears | undefined
  readonly conversation = new Conversation()
  readonly requests: Halves['requests']
  readonly #answers: Halves['answers']
  readonly #facts: SessionFacts
  /** Turns for judging the long events of all sessions. */
  readonly #turns: Places
  #count = 0
  #end: End | undefined
  #isDraining = false
  #lastEvent: number
  /** Start of the wait for an answer, and whether any of it has come. */
  #awaits: { since: number; begun: boolean } | undefined
  #whenEnded: (() => void) | undefined

  constructor(
    deps: SessionDeps,
    turns: Places,
    facts: SessionFacts,
    { client, upstream }: Sides,
    halvesOf: (session: Session) => Halves
  ) {
    this.deps = deps
    this.#turns = turns
    this.#facts = facts
    this.inbound = facts.inbound
    this.route = facts.route
    this.credential = facts.settings.key
    this.client = client
    this.upstream = upstream
    this.#lastEvent = this.deps.clock.monotonic()
    this.ears = this.#openEars()
    const { requests, answers } = halvesOf(this)
    this.requests = requests
    this.#answers = answers
  }

  #openEars(): Ears | undefined {
    const { transcriber } = this.deps
    return transcriber !== undefined && isHeard(this.route) ? new Ears(transcriber, this.inbound) : undefined
  }

  get id(): string {
    return this.inbound.requestId
  }

  get isEnded(): boolean {
    return this.#end !== undefined
  }

  /** Resolves when it is over. */
  async run(): Promise<void> {
    const over = new Promise<void>((resolve) => {
      this.#whenEnded = resolve
    })
    this.client.onClose = () => this.end('client', 1000)
    const stop = this.#watch()
    const guard = (half: Promise<void>) => half.catch((error: unknown) => this.fail(error))
    await Promise.all([guard(this.requests.run()), guard(this.#answers.run()), over])
    stop()
  }

  /** Names of the events that the gateway sends, in both directions. */
  readonly nextId = (): string => `event_${this.id}_${++this.#count}`

  isOwn(eventId: unknown): boolean {
    return typeof eventId === 'string' && eventId.startsWith(`event_${this.id}_`)
  }

  /** The turn of one long event. @throws Fault `overloaded` where it does not come in time */
  async turn(): Promise<LetGo> {
    const { caller, cancel } = this.inbound
    return this.#turns.take(caller.lineage, cancel)
  }

  /** An event of the gateway's own, to the client. */
  async tell(event: JsonObject): Promise<void> {
    await this.client.send(writeEvent(event, this.nextId).trimEnd())
  }

  tellFault(fault: Fault, eventId?: string): Promise<void> {
    return this.tell(faultError(fault, this.id, eventId))
  }

  /** An event of the gateway's own, to the upstream. */
  async command(event: JsonObject): Promise<void> {
    await this.upstream.send(writeEvent(event, this.nextId).trimEnd())
  }

  /** Logs a failure of the session, with the upstream that it is connected to. */
  report(fault: Fault): void {
    const { name: upstream } = this.#facts.settings
    this.deps.log.error({ request_id: this.id, upstream, err: describeError(fault) }, fault.code)
  }

  /** Notes that an event came from either side. */
  touch(): void {
    this.#lastEvent = this.deps.clock.monotonic()
  }

  awaitResponse(): void {
    this.#awaits ??= { since: this.deps.clock.monotonic(), begun: false }
  }

  /** Called with each event of the upstream, and whether an answer is under way after it. */
  heard(isAnswering: boolean): void {
    this.touch()
    this.#awaits = isAnswering
      ? { since: this.#lastEvent, begun: true }
      : this.#awaits?.begun
        ? undefined
        : this.#awaits
  }

  /** Called when an answer has ended. */
  answered(): void {
    this.#awaits = undefined
    if (this.#isDraining && !this.#answers.isAnswering) this.end('stopped', 1001)
  }

  /** A key that is revoked, expired or no longer allowed ends the session at once. @returns whether it goes on */
  async checkKey(): Promise<boolean> {
    const { inbound, address } = this.#facts
    const { admission } = this.deps
    const { keyHeaders } = this.route.spoken
    const admitted = await admission.admit({
      headers: inbound.headers,
      address,
      scope: 'safety:evaluate',
      cost: 0,
      keyHeaders
    })
    if (!(admitted instanceof Fault)) return !this.isEnded
    if (this.isEnded) return false
    this.tellFault(admitted).catch(() => {})
    this.end('key', admitted.status >= 500 ? 1013 : 1008, admitted.code)
    return false
  }

  #watch(): () => void {
    let heard = { client: true, upstream: true }
    this.client.onPong(() => {
      heard.client = true
    })
    this.upstream.onPong(() => {
      heard.upstream = true
    })
    let ticks = 0
    const timer = setInterval(() => {
      if (this.isEnded) return
      this.checkKey().catch((error: unknown) => this.fail(error))
      this.#checkTime()
      if (++ticks % (pingMs / tickMs) !== 0) return
      if (!heard.client && this.client.isHeard) this.end('client', 1001)
      else if (!heard.upstream && this.upstream.isHeard) this.fail(new Fault('upstream_timeout'))
      heard = { client: false, upstream: false }
      this.client.ping()
      this.upstream.ping()
    }, tickMs)
    return () => clearInterval(timer)
  }

  #checkTime(): void {
    const now = this.deps.clock.monotonic()
    const { firstByteTimeoutMs, idleTimeoutMs } = this.#facts.settings
    const waiting = this.#awaits
    // An upstream is not late while reading from it is paused for a slow client.
    if (waiting !== undefined && this.upstream.isHeard && !this.#answers.isBusy) {
      if (now - waiting.since > (waiting.begun ? idleTimeoutMs : firstByteTimeoutMs)) {
        this.fail(new Fault('upstream_timeout'))
        return
      }
    }
    if (now - this.#lastEvent > idleMs) this.end('idle', 1001, 'idle')
  }

  /** Ends when the answer under way has ended, or at the deadline. */
  drain(deadlineMs: number): void {
    this.#isDraining = true
    if (this.#answers.isAnswering) setTimeout(() => this.end('stopped', 1001), deadlineMs).unref()
    else this.end('stopped', 1001)
  }

  /** Reports a fault that ends the session, and closes both sides. */
  fail(error: unknown): void {
    if (this.isEnded || error instanceof ClientGone) return
    const fault = error instanceof Fault ? error : new Fault('internal_error', { cause: error })
    this.report(fault)
    this.tellFault(fault).catch(() => {})
    const isUpstream = fault.code === 'upstream_error' || fault.code === 'upstream_timeout'
    this.end(isUpstream ? 'upstream' : 'failed', 1011, fault.code)
  }

  /** Ends the session once, with the first reason. */
  end(end: End, code: number, reason = ''): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.deps.metrics.realtimeEnds.inc({ end })
    this.deps.log.debug({ request_id: this.id, route: this.route.id, end }, 'session ended')
    this.client.close(code, reason)
    this.upstream.close(1000)
    this.inbound.cancel.cancel(new ClientGone())
    this.#answers.close()
    this.#whenEnded?.()
  }
}
