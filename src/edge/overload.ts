/**
 * Sheds load before latency collapses: of the work that must be judged, what is too much is refused at once with 503 and
 * Retry-After, before anything is asked about its caller. Management and health stay answerable.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Fault } from '../base/errors.js'
import type { Log } from '../observe/log.js'
import type { Metrics } from '../observe/metrics.js'
import type { ShapedFault } from './faults.js'
import { createRequestIds } from './request-id.js'
import { Shedding } from './shedding.js'
import { checkFraming } from './target.js'
import { Turns } from './turns.js'

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
   * @param begin takes the refusal
   */
  await({ raw, method, routeOptions: { url = '' } }: FastifyRequest, begin: (refusal?: Fault) => void): void {
    const target = raw.url ?? ''
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
