/** A server's events on their way to a client: judged one after the other, at the pace of the reader. */
import type { Readable } from 'node:stream'
import type { JsonObject } from '../../base/chat.js'
import { Fault } from '../../base/errors.js'
import { emptyFrame, eventFrame, faultError } from '../../dialects/mcp/write.js'
import type { Admission } from '../../identity/admission.js'
import type { Metrics } from '../../observe/metrics.js'
import { readWire, type Source } from '../answer/events.js'
import type { ReplyRest } from '../exchange.js'
import { discard } from '../upstream/send.js'
import type { Heard, Relay } from './relay.js'
import type { McpServer } from './server.js'
import { isTicketable, type Tickets } from './tickets.js'

export interface StreamDeps {
  relay: Relay
  tickets: Tickets
  admission: Pick<Admission, 'admit'>
  metrics: Pick<Metrics, 'mcpStreams'>
}

/** One that is open. */
interface Running {
  /** Of the configuration that it runs under; a reload may give it to the next one. */
  by: McpStreams
  heard: Heard
  /** Whether it can be gone on with. */
  hasIds: boolean
  stop(): void
}

export class McpStreams {
  readonly #deps: StreamDeps
  /** Those that are only listened to. */
  readonly #open = new Set<Running>()
  /** Those of them that have connections of this configuration, whichever they run under now. */
  readonly #begun = new Set<Running>()
  #isStopping = false

  constructor(deps: StreamDeps) {
    this.#deps = deps
  }

  /**
   * @param body event stream of a server
   * @param address of the client, for the list of its key
   */
  relay(heard: Heard, body: Readable, address: string): ReplyRest {
    let stop: () => void = () => {}
    const stopped = new Promise<undefined>((resolve) => {
      stop = () => resolve(undefined)
    })
    const running: Running = { by: this, heard, hasIds: false, stop }
    return {
      encoding: 'utf8',
      frames: this.#frames(running, stopped, body, address),
      // Who can go on from an event is cut off, and does; who cannot is told.
      broken: (error) =>
        running.hasIds || heard.id === undefined
          ? ': \n\n'
          : eventFrame(faultError(heard.id, asFault(error), heard.inbound.requestId))
    }
  }

  async *#frames(
    running: Running,
    stopped: Promise<undefined>,
    body: Readable,
    address: string
  ): AsyncGenerator<string, string> {
    const { metrics } = this.#deps
    // A stream to listen to has no end of its own: a gateway that stops ends it.
    const mayStop = running.heard.exchange === undefined
    if (mayStop) {
      this.#open.add(running)
      this.#begun.add(running)
      if (this.#isStopping) running.stop()
    }
    metrics.mcpStreams.inc()
    const events: Source['events'] = readWire('sse', body)
    let isOver = false
    try {
      for (;;) {
        const next = events.next()
        const taken = mayStop ? await Promise.race([next, stopped]) : await next
        if (taken === undefined || taken.done === true) break
        await running.by.#checkKey(running.heard, address)
        for (const { data, id } of taken.value) {
          const { by, heard } = running
          const ticket = by.#ticket(heard, id)
          running.hasIds ||= ticket !== undefined
          if (saysNothing(data)) {
            yield emptyFrame(ticket)
            continue
          }
          const message = await by.#deps.relay.take(heard, data)
          if (message === undefined) continue
          yield eventFrame(message, ticket)
          if (isResponse(message)) {
            isOver = true
            return ''
          }
        }
      }
      isOver = true
      return ''
    } finally {
      running.by.#open.delete(running)
      this.#begun.delete(running)
      metrics.mcpStreams.dec()
      if (!isOver || mayStop) discard(body)
      events.return().catch(() => {})
    }
  }

  #ticket({ inbound, server, id: answers }: Heard, id: string | undefined): string | undefined {
    if (!isTicketable(id)) return undefined
    const { accountId: account, lineage } = inbound.caller
    return this.#deps.tickets.giveEvent({ event: id, answers }, { account, lineage, server: server.name })
  }

  /** A key that is revoked meanwhile hears nothing more. */
  async #checkKey({ inbound }: Heard, address: string): Promise<void> {
    const admitted = await this.#deps.admission.admit({ headers: inbound.headers, address, scope: 'mcp:call', cost: 0 })
    if (admitted instanceof Fault) throw admitted
  }

  /** Ends what is only listened to; clients open it again, and are served by whoever comes next. */
  drain(): void {
    this.#isStopping = true
    for (const { stop } of this.#open) stop()
  }

  /**
   * Gives what is only listened to to the streams of the next configuration.
   * @param as what a stream hears from then on; undefined: it ends
   */
  handOver(next: McpStreams, as: (heard: Heard) => Heard | undefined): void {
    for (const running of this.#open) {
      const heard = as(running.heard)
      if (heard === undefined || next.#isStopping) {
        running.stop()
        continue
      }
      this.#open.delete(running)
      running.by = next
      running.heard = heard
      next.#open.add(running)
    }
  }

  /** The servers whose streams go on over connections of this configuration. */
  handedOver(): McpServer[] {
    return [...this.#begun].filter(({ by }) => by !== this).map(({ heard }) => heard.server)
  }
}

/** An event that only has an id, to go on from. Servers with the makers' package store it as `{}` and say it again so. */
function saysNothing(data: string): boolean {
  return data === '' || data === '{}'
}

/** What `Relay.take` lets through is a response to the request of its stream, which ends with it. */
function isResponse(message: JsonObject): boolean {
  return message.method === undefined
}

function asFault(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('upstream_error', { cause: error })
}
