/**
 * Sheds load before latency collapses: excess requests that would have to be judged are refused at once with 503 and
 * Retry-After, before their caller is checked. Management and health stay answerable.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Fault } from '../base/errors.js'
import type { Log } from '../observe/log.js'
import type { Metrics } from '../observe/metrics.js'
import type { ShapedFault } from './faults.js'
import { createRequestIds } from './request-id.js'
import { checkFraming } from './target.js'

/** No shedding in this time: a process that has just started takes several times as long for each request. */
const startMs = 3_000
/** Refusals are logged together this often: a line for each would be a large part of the load. */
const tellMs = 1_000

/** Bound on the targets that are remembered, about 200 KB: clients choose them where a path names a model. */
const maxTargets = 1000

/** One for all refusals: making an error costs as much as half a short evaluation. */
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
  readonly #turns = new RequestTurns()
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
   * Refuses a request without the application, which would cost several times as much: under overload only cheap
   * refusals leave time for other work. Only for targets that were routed before; the hook asks for the others.
   * @returns whether it refused
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
   * Called by the edge with a routed request. Calls `begin` when its turn has come, or at once with its refusal.
   * @param route its path in the router's notation, and its name in metrics
   * @param begin takes the refusal
   */
  await(
    { method, url: target = '' }: IncomingMessage,
    route: { url: string; name: string },
    begin: (refusal?: Fault) => void
  ): void {
    if (method === 'POST' && !this.#refusals.has(target)) this.#remember(target, route)
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

  #remember(target: string, { url, name }: { url: string; name: string }): void {
    if (this.#refusals.size >= maxTargets) this.#refusals.clear()
    this.#refusals.set(target, new Refusal(name, (id) => this.#shape(url, overloaded, id)))
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

/** Placeholder for the id of a request in a prepared answer. */
const idHere = 'req_to_be_written_here'

/** The prepared refusal of requests for one route, without the id. */
class Refusal {
  readonly route: string
  readonly #status: number
  readonly #headers: readonly string[]
  /** The parts of the body around the id. */
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
 * ms that a request may wait while more requests come than can be answered. A shorter wait would refuse many clients
 * that each send one request at a time: several hundred of them wait for each other, and refused ones retry at once,
 * which turns a crowd into a flood.
 */
const shortest = 500
/** ms that a request may wait after a time without load. */
const longest = 2_000
/** ms in which the allowed wait falls to a third, and ms in which it triples again. */
const falls = 1_000
const rises = 25
/**
 * Some requests are refused from the first share of the allowed wait on, all from the second: one by one, not in waves.
 */
const someFrom = 0.8
const allFrom = 1.2
/** A request with fewer others before it is never refused: its wait is short, or has another cause than the queue. */
const fewest = 32
/** ms between two requests, assumed where none was timed lately. */
const assumed = 0.5
/** Weight of the last interval in their mean. */
const gain = 1 / 16

/**
 * Decides which requests are refused while more come than can be answered: those that would wait too long. The wait is
 * predicted on arrival, from the number of requests before it and their present pace. The allowed wait falls while
 * requests wait, so that a burst is answered, and lasting overload does not delay all of them. It rises again while
 * none waits, so that an idle process refuses nobody.
 */
export class Shedding {
  /** Recent mean of the ms between two requests of which one waited for the other. */
  #interval = assumed
  /** When the last one began. */
  #begun = 0
  #allowed = longest
  #looked = 0
  /** Predicted wait of the next request, ms, at the last look. */
  #wait = 0
  /** Shares of refusals, summed over requests while only some are refused: at 1 the next one is refused. */
  #due = 0

  /** Called for each request that comes. @param waiting how many wait already @param now ms */
  refuses(waiting: number, now: number): boolean {
    this.#look(waiting, now)
    const share = (this.#wait / this.#allowed - someFrom) / (allFrom - someFrom)
    if (waiting < fewest || share <= 0) return false
    this.#due += Math.min(1, share)
    if (this.#due < 1) return false
    this.#due--
    return true
  }

  /**
   * Called when a request begins. @param waiting how many wait now @param hasWaited whether the one before held it up
   */
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
    // After such a rest the old pace says nothing about the next requests.
    if (this.#wait === 0 && this.#allowed === longest) this.#interval = Math.min(this.#interval, assumed)
    this.#wait = waiting * this.#interval
  }
}

/** Requests take up to twice the time of everything else in a turn: refusing must not be all that gets done. */
const share = 2
/** Longest time for requests in one turn, ms. */
const longestSlice = 40
/** How many begin in one turn, at most. */
const mostInSlice = 64
/** How many requests of one turn begin at once where none waits: so few delay nothing else. */
export const mostAtOnce = 16

/** @param hasWaited whether the request waited behind another */
type Begin = (hasWaited: boolean) => void

/**
 * Begins requests in the order of arrival, a few in each turn of the event loop. Between them the loop does other work,
 * so that refusals, health checks and pieces of streams do not wait for all requests to be judged.
 */
export class RequestTurns {
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

  /** Begins a request at once where few have begun in this turn and none waits; queues it otherwise. */
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

  /** The synchronous part of a request ends before the next look. */
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
      // Also where none waits, if a request begins now: the next one must come after it.
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
