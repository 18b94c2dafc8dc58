/**
 * Sheds load before latency collapses: of the work that must be judged, what is too much is refused at once with 503 and
 * Retry-After, before anything is asked about its caller. Management and health stay answerable.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Fault } from '../errors.js'
import type { Log } from '../observe/log.js'
import type { Metrics } from '../observe/metrics.js'
import type { ShapedFault } from './faults.js'
import { createRequestIds } from './request-id.js'
import { Shedding } from './shedding.js'
import { checkFraming } from './target.js'

/** Reading constitutions and warming up hold the loop: what was measured until then says nothing about load. */
const startMs = 3_000
/** ms between looks at the lag; as often as RFC 8033 has it. */
const lookMs = 15
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
  #countsFrom = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #looked = 0
  #told = 0
  #untold = 0

  /** By target: the path of the route that answered it lately. */
  readonly #routes = new Map<string, string>()
  /** Who was let in before the router. */
  #admitted: IncomingMessage | undefined

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
    app.addHook('onClose', async () => clearTimeout(this.#timer))
  }

  /**
   * Refuses in the place of the application, which would cost several times as much: a refusal must be cheap, or refusing
   * is all that gets done. Only for targets that were routed before; of others the hook asks.
   * @returns whether it did
   */
  refuse(request: IncomingMessage, response: ServerResponse): boolean {
    const { url = '' } = request
    const route = request.method === 'POST' ? this.#routes.get(url) : undefined
    if (route === undefined) return false
    if (!this.#shedding.refuses()) {
      this.#watch()
      this.#admitted = request
      return false
    }
    // A body whose end is in doubt must not be skipped on a connection that goes on: the edge closes it.
    if (checkFraming(request) !== undefined) return false
    this.#count()
    this.#metrics.requests.of(route, '5xx').inc()
    const id = this.#nextId()
    const { status, headers, body } = this.#shape(route, overloaded, id)
    response.writeHead(status, { ...headers, 'x-request-id': id, 'content-length': Buffer.byteLength(body) })
    response.end(body)
    return true
  }

  /** For the edge, of a request that was routed. */
  refusal({ raw, routeOptions: { url = '' } }: FastifyRequest): Fault | undefined {
    if (this.#admitted === raw) {
      this.#admitted = undefined
      return undefined
    }
    if (this.#routes.size >= maxTargets) this.#routes.clear()
    this.#routes.set(raw.url ?? '', url)
    if (this.#shedding.refuses()) {
      this.#count()
      return overloaded
    }
    this.#watch()
    return undefined
  }

  #count(): void {
    this.#untold++
    this.#metrics.shedRequests.inc()
  }

  /** While anything is asked the lag is looked at. */
  #watch(): void {
    if (this.#timer !== undefined) return
    this.#looked = performance.now()
    this.#timer = setTimeout(this.#look, lookMs).unref()
  }

  #look = (): void => {
    const now = performance.now()
    const elapsed = now - this.#looked
    this.#looked = now
    if (now > this.#countsFrom) this.#shedding.observe(Math.max(0, elapsed - lookMs), elapsed)
    if (this.#untold > 0 && now - this.#told > tellMs) {
      this.#log.error({ refused: this.#untold, lag_ms: Math.round(elapsed - lookMs) }, 'overloaded')
      this.#told = now
      this.#untold = 0
    }
    this.#admitted = undefined
    // A gateway that nobody asks anything sleeps.
    const rests = this.#shedding.isIdle && this.#untold === 0
    this.#timer = rests ? undefined : setTimeout(this.#look, lookMs).unref()
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Refused while there is too much to do. */
    isLoad?: boolean
  }
}
