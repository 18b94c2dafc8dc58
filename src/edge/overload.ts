/**
 * Sheds load before latency collapses: of the work that must be judged, what is too much is refused at once with 503 and
 * Retry-After, before anything is asked about its caller. Management and health stay answerable.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Fault } from '../base/errors.js'
import type { Log } from '../observe/log.js'
import type { Metrics } from '../observe/metrics.js'
import type { ShapedFault } from './faults.js'
import { createRequestIds } from './request-id.js'
import { checkFraming } from './target.js'

/** A process that has just started takes several times as long for each request, and nothing that is sent to it goes elsewhere. */
const startMs = 3_000
/** A line of the log for each refusal would be much of what there is to do. */
const tellMs = 1_000

/** Bound on the targets that are remembered, about 200 KB: clients choose them where a path names a model. */
const maxTargets = 1000

/** One for all: to make an error costs as much as half a short evaluation. */
const overloaded = new Fault('overloaded', { headers: { 'retry-after': '2' } })

interface OverloadDeps {
  log: Log
  metrics: Pick<Metrics, 'shedRequests' | 'requests'>
  /** A fault as the clients of a path read it. */
  shape: (path: string, fault: Fault, requestId: string) => ShapedFault
}

export class Overload {
  readonly #log: Log
  readonly #shape: OverloadDeps['shape']
  readonly #nextId = createRequestIds()
  readonly #metrics: OverloadDeps['metrics']
  readonly #shedding = new Shedding()
  readonly #turns = new Turns()
  #countsFrom = Number.POSITIVE_INFINITY
  #tells: NodeJS.Timeout | undefined
  #untold = 0

  /** By target: how a request for it is refused. */
  readonly #refusals = new Map<string, Refusal>()

  constructor({ log, metrics, shape }: OverloadDeps) {
    this.#log = log
    this.#shape = shape
    this.#metrics = metrics
  }

  /** Whether this fault is how a request was refused here: it is counted and logged already. */
  isOwn(fault: unknown): boolean {
    return fault === overloaded
  }

  /** Every route that is registered on this scope may be refused. */
  mayRefuse(app: FastifyInstance): void {
    app.addHook('onRoute', (route) => {
      route.config = { ...route.config, isLoad: true }
    })
    app.addHook('onReady', async () => {
      this.#countsFrom = performance.now() + startMs
    })
    app.addHook('onClose', async () => this.#tell())
  }

  /**
   * Refuses in the place of the application, which would cost several times as much: a refusal must be cheap, or refusing
   * is all that gets done. Only for targets that were routed before; of others the hook asks.
   * @returns whether it did
   */
  refuse(request: IncomingMessage, response: ServerResponse): boolean {
    if (!this.#refuses() || request.method !== 'POST') return false
    const refusal = this.#refusals.get(request.url ?? '')
    // A body whose end is in doubt must not be skipped on a connection that goes on: the edge closes it.
    if (refusal === undefined || checkFraming(request) !== undefined) return false
    this.#count()
    this.#metrics.requests.of(refusal.route, '5xx').inc()
    refusal.send(response, this.#nextId())
    return true
  }

  /**
   * For the edge, of a request that was routed: when its turn has come, or at once where it is refused.
   * @param url of its route
   * @param begin takes the refusal
   */
  await({ method, url: target = '' }: IncomingMessage, url: string, begin: (refusal?: Fault) => void): void {
    if (method === 'POST' && !this.#refusals.has(target)) this.#remember(target, url)
    if (this.#refuses()) {
      this.#count()
      begin(overloaded)
      return
    }
    this.#turns.take((hasWaited) => {
      this.#shedding.begins(this.#turns.length, hasWaited, performance.now())
      begin()
    })
  }

  #refuses(): boolean {
    const waiting = this.#turns.length
    if (waiting === 0) return false
    const now = performance.now()
    return this.#shedding.refuses(waiting, now) && now > this.#countsFrom
  }

  #remember(target: string, route: string): void {
    if (this.#refusals.size >= maxTargets) this.#refusals.clear()
    this.#refusals.set(target, new Refusal(route, (id) => this.#shape(route, overloaded, id)))
  }

  #count(): void {
    this.#untold++
    this.#metrics.shedRequests.inc()
    this.#tells ??= setTimeout(() => this.#tell(), tellMs).unref()
  }

  #tell(): void {
    clearTimeout(this.#tells)
    this.#tells = undefined
    if (this.#untold === 0) return
    this.#log.error({ refused: this.#untold, waiting: this.#turns.length }, 'overloaded')
    this.#untold = 0
  }
}

/** Stands for a request's id until there is one. */
const idHere = 'req_to_be_written_here'

/** The answer to a request for one route, put together but for the id. */
class Refusal {
  readonly route: string
  readonly #status: number
  readonly #headers: readonly string[]
  /** What is around the id. */
  readonly #body: readonly string[]

  constructor(route: string, shape: (requestId: string) => ShapedFault) {
    const { status, headers, body } = shape(idHere)
    this.route = route
    this.#status = status
    this.#headers = Object.entries(headers).flat()
    this.#body = String(body).split(idHere)
  }

  send(response: ServerResponse, id: string): void {
    const body = this.#body.join(id)
    const own = ['x-request-id', id, 'content-length', String(Buffer.byteLength(body))]
    const headers = this.#headers.map((text) => (text === idHere ? id : text))
    response.writeHead(this.#status, [...headers, ...own])
    response.end(body)
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Refused while there is too much to do. */
    isLoad?: boolean
  }
}

/**
 * ms that a request may wait while ever more come than can be answered. Shorter, it would refuse clients of which each
 * waits for its answer before it asks again, only for being many: several hundred of them have to wait for each other, and
 * those that are refused ask again at once, which is what makes a crowd a flood.
 */
const shortest = 500
/** ms that a request may wait where all is well before. */
const longest = 2_000
/** ms in which the wait that is allowed falls to a third, and in which it becomes three times as long again. */
const falls = 1_000
const rises = 25
/** From this share of the wait that is allowed on some are refused, and all from the other: one by one, not in waves. */
const someFrom = 0.8
const allFrom = 1.2
/** With fewer that wait before it a request is never refused: its wait is short, or others are to blame for it. */
const fewest = 32
/** ms between two requests where none was timed of late. */
const assumed = 0.5
/** Weight of the last interval in their mean. */
const gain = 1 / 16

/**
 * Which requests are refused while more come than can be answered: those that would wait for too long. What they would wait
 * is known when they come: how many wait before them, and how long each of these takes at present. How long is too long
 * falls while requests wait, so that what comes at once is answered, and what goes on does not make all of them late; it
 * rises again while none waits, so that nobody is refused for a process that has nothing to do.
 */
export class Shedding {
  /** ms between two requests of which one waited for the other: their mean of late. */
  #interval = assumed
  /** When the last one began. */
  #begun = 0
  #allowed = longest
  #looked = 0
  /** What the next would have waited at the last look. */
  #wait = 0
  /** Of a refusal, what adds up with each that comes while some are refused. */
  #due = 0

  /** To be asked for each that comes. @param waiting how many wait already @param now ms */
  refuses(waiting: number, now: number): boolean {
    this.#look(waiting, now)
    const share = (this.#wait / this.#allowed - someFrom) / (allFrom - someFrom)
    if (waiting < fewest || share <= 0) return false
    this.#due += Math.min(1, share)
    if (this.#due < 1) return false
    this.#due--
    return true
  }

  /** One begins. @param waiting how many wait now @param hasWaited whether the one before held it up */
  begins(waiting: number, hasWaited: boolean, now: number): void {
    this.#look(waiting, now)
    if (hasWaited) this.#interval += gain * (now - this.#begun - this.#interval)
    this.#begun = now
  }

  #look(waiting: number, now: number): void {
    const passed = now - this.#looked
    this.#looked = now
    if (this.#wait > shortest) this.#allowed = Math.max(shortest, this.#allowed * Math.exp(-passed / falls))
    else if (this.#wait === 0 && this.#allowed < longest)
      this.#allowed = Math.min(longest, this.#allowed * Math.exp(passed / rises))
    // What it took before such a rest says nothing about what comes now.
    if (this.#wait === 0 && this.#allowed === longest) this.#interval = Math.min(this.#interval, assumed)
    this.#wait = waiting * this.#interval
  }
}

/** Of a turn requests take one, or twice as long as everything else has taken: refusing must not be all that gets done. */
const share = 2
/** ms of it, at most. */
const longestSlice = 40
/** How many begin in one turn, at most. */
const mostInSlice = 64
/** How many of those that come in one turn begin at once, where none waits: for so few nothing else is late. */
export const mostAtOnce = 16

/** @param hasWaited whether another held it up */
type Begin = (hasWaited: boolean) => void

/**
 * Requests begin in the order in which they came, a few in each turn of the event loop: between them the loop comes to
 * what else there is, so that a refusal, the health and the pieces of streams do not wait for all that is to be judged.
 */
export class Turns {
  #waiting: Begin[] = []
  /** Index of the next. */
  #next = 0
  /** How many looks at the queue are due in this turn. */
  #looks = 0
  /** How many are to be due in each. */
  #batch = 1
  #sliceEnds = 0
  #ended = 0
  #isFirst = true
  /** How many have begun at once in this turn. */
  #atOnce = 0

  /** How many wait. */
  get length(): number {
    return this.#waiting.length - this.#next
  }

  /** At once where few have begun in this turn and none waits. */
  take(begin: Begin): void {
    if (this.length > 0 || this.#atOnce === mostAtOnce) {
      this.#waiting.push(begin)
      return
    }
    this.#atOnce++
    if (this.#looks === 0) this.#due(1)
    begin(false)
  }

  #due(looks: number): void {
    this.#looks = looks
    this.#isFirst = true
    for (let i = 0; i < looks; i++) setImmediate(this.#look)
  }

  /** What one begins is done before the next look, but for what it waits for. */
  #look = (): void => {
    const now = performance.now()
    if (this.#isFirst) this.#sliceEnds = now + Math.min(longestSlice, share * (now - this.#ended))
    const hasTime = this.#isFirst || now < this.#sliceEnds
    this.#isFirst = false
    this.#atOnce = 0
    this.#looks--
    const begin = hasTime ? this.#shift() : undefined
    if (this.#looks === 0) {
      this.#ended = now
      this.#batch = hasTime ? Math.min(mostInSlice, this.#batch * 2) : Math.max(1, this.#batch >> 1)
      // Also where none waits, if one begins now: the next comes after it.
      if (begin !== undefined || this.length > 0) this.#due(Math.max(1, Math.min(this.#batch, this.length)))
    }
    begin?.(true)
  }

  #shift(): Begin | undefined {
    const begin = this.#waiting[this.#next]
    if (begin === undefined) return undefined
    this.#next++
    if (this.#next === this.#waiting.length || this.#next === 1024) {
      this.#waiting.splice(0, this.#next)
      this.#next = 0
    }
    return begin
  }
}
