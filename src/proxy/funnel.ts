/**
 * The funnel: the one way from a client's bytes to an upstream and back, whatever server holds the socket and whatever
 * transport reaches the upstream. Fails closed: every exception becomes an error, never a pass.
 */
import type { Clock } from '../base/clock.js'
import { Fault } from '../base/errors.js'
import { describeError, type Log } from '../observe/log.js'
import { type Metrics, statusClass } from '../observe/metrics.js'
import type { UpstreamRecorder } from '../observe/upstream-answers.js'
import { type Answers, isStreamed } from './answer/answer.js'
import type { Streams } from './answer/stream.js'
import { ClientGone, type Exchange, type Forward, type Inbound, type Reply } from './exchange.js'
import { addVerdictHeaders } from './headers.js'
import { faultReply } from './reply.js'
import type { Requests } from './request/request.js'
import { tellAnswered } from './upstream/answered.js'
import { type Transport, transportFault } from './upstream/send.js'

export interface FunnelDeps {
  requests: Requests
  answers: Answers
  streams: Streams
  clock: Pick<Clock, 'monotonic'>
  metrics: Pick<Metrics, 'overhead' | 'upstreamDuration'>
  /** Counts answers, and audits failures. */
  answered: UpstreamRecorder
  log: Log
}

/** The result of one request. */
export interface Outcome {
  reply: Reply
  /** Undefined where the request could not be read. */
  exchange: Exchange | undefined
}

export class Funnel {
  readonly #deps: FunnelDeps

  constructor(deps: FunnelDeps) {
    this.#deps = deps
  }

  /**
   * @param bytes the body as it came, still in its content coding
   * @returns the reply, faults included, and the request's exchange; undefined where the client has left
   */
  async run(inbound: Inbound, bytes: Buffer, transport: Transport): Promise<Outcome | undefined> {
    const { requests } = this.#deps
    let exchange: Exchange | undefined
    let upstream: string | undefined
    try {
      const reading = requests.read(inbound, bytes)
      exchange = reading instanceof Promise ? await reading : reading
      const verdict = await requests.judge(exchange)
      let reply: Reply
      if ('bytes' in verdict) {
        upstream = verdict.upstream
        reply = this.#telling(await this.#relay(exchange, verdict, transport), inbound, upstream)
      } else {
        reply = verdict
        addVerdictHeaders(reply.headers, exchange, exchange.verdict)
      }
      this.#observeOverhead(exchange)
      return { reply, exchange }
    } catch (error) {
      if (error instanceof ClientGone || inbound.cancel.reason instanceof ClientGone) return undefined
      const reply = this.#refuse(inbound, error, upstream)
      if (exchange !== undefined) {
        addVerdictHeaders(reply.headers, exchange, exchange.verdict)
        this.#observeOverhead(exchange)
      }
      return { reply, exchange }
    }
  }

  async #relay(exchange: Exchange, forward: Forward, transport: Transport): Promise<Reply> {
    const { clock, metrics, answers, streams, answered } = this.#deps
    const { route } = exchange
    const began = clock.monotonic()
    const evaluatedBefore = exchange.evaluationMs
    let status: number | undefined
    let failure: unknown
    try {
      const answer = await transport(exchange, forward)
      status = answer.status
      if (Buffer.isBuffer(answer.body)) {
        exchange.upstreamMs = clock.monotonic() - began
      } else {
        answer.body.once('close', () => {
          exchange.upstreamMs = clock.monotonic() - began
        })
      }
      return await (isStreamed(exchange, answer) ? streams : answers).judge(exchange, answer)
    } catch (error) {
      failure = error
      throw error
    } finally {
      if (exchange.upstreamMs === 0) {
        exchange.upstreamMs = clock.monotonic() - began - (exchange.evaluationMs - evaluatedBefore)
      }
      tellAnswered(answered, exchange, forward.upstream, { status, error: failure })
      metrics.upstreamDuration.of(route.id, statusClass(status ?? 502)).observe(exchange.upstreamMs / 1000)
    }
  }

  /** @param upstream name of the upstream that was asked, if any */
  #refuse({ entry, requestId }: Inbound, error: unknown, upstream: string | undefined): Reply {
    const fault = error instanceof Fault ? error : new Fault('internal_error', { cause: error })
    this.#log(fault, requestId, upstream)
    return faultReply(entry.dialect, fault, requestId)
  }

  /** The same reply, with a log line where the rest of it breaks. */
  #telling(reply: Reply, { requestId }: Inbound, upstream: string): Reply {
    const { rest } = reply
    if (rest === undefined) return reply
    const broken = (error: unknown) => {
      this.#log(transportFault(error), requestId, upstream)
      return rest.broken(error)
    }
    return { ...reply, rest: { ...rest, broken } }
  }

  #log(fault: Fault, requestId: string, upstream: string | undefined): void {
    if (fault.status < 500) return
    this.#deps.log.error({ request_id: requestId, upstream, err: describeError(fault) }, fault.code)
  }

  #observeOverhead({ route, inbound, upstreamMs }: Exchange): void {
    const { clock, metrics } = this.#deps
    const total = clock.monotonic() - inbound.started
    metrics.overhead.of(route.id).observe(Math.max(0, total - upstreamMs) / 1000)
  }
}
