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
import { isTicketable, type Tickets } from './tickets.js'

export interface StreamDeps {
  relay: Relay
  tickets: Tickets
  admission: Pick<Admission, 'admit'>
  metrics: Pick<Metrics, 'mcpStreams'>
}

export class McpStreams {
  readonly #deps: StreamDeps
  /** Ends each of those that are open. */
  readonly #open = new Set<() => void>()
  #isStopping = false

  constructor(deps: StreamDeps) {
    this.#deps = deps
  }

  /**
   * @param body event stream of a server
   * @param address of the client, for the list of its key
   */
  relay(heard: Heard, body: Readable, address: string): ReplyRest {
    const run = { hasIds: false }
    return {
      encoding: 'utf8',
      frames: this.#frames(heard, body, address, run),
      // Who can go on from an event is cut off, and does; who cannot is told.
      broken: (error) =>
        run.hasIds || heard.id === undefined
          ? ': \n\n'
          : eventFrame(faultError(heard.id, asFault(error), heard.inbound.requestId))
    }
  }

  async *#frames(
    heard: Heard,
    body: Readable,
    address: string,
    run: { hasIds: boolean }
  ): AsyncGenerator<string, string> {
    const { metrics } = this.#deps
    let stop: () => void = () => {}
    const stopped = new Promise<undefined>((resolve) => {
      stop = () => resolve(undefined)
    })
    // A stream to listen to has no end of its own: a gateway that stops ends it.
    const mayStop = heard.exchange === undefined
    if (mayStop) {
      this.#open.add(stop)
      if (this.#isStopping) stop()
    }
    metrics.mcpStreams.inc()
    const events: Source['events'] = readWire('sse', body)
    let isOver = false
    try {
      for (;;) {
        const next = events.next()
        const taken = mayStop ? await Promise.race([next, stopped]) : await next
        if (taken === undefined || taken.done === true) break
        await this.#checkKey(heard, address)
        for (const { data, id } of taken.value) {
          const ticket = this.#ticket(heard, id)
          run.hasIds ||= ticket !== undefined
          if (data === '') {
            yield emptyFrame(ticket)
            continue
          }
          const message = await this.#deps.relay.take(heard, data)
          if (message === undefined) continue
          yield eventFrame(message, ticket)
          if (heard.exchange !== undefined && isResponse(message)) {
            isOver = true
            return ''
          }
        }
      }
      isOver = true
      return ''
    } finally {
      this.#open.delete(stop)
      metrics.mcpStreams.dec()
      if (!isOver || mayStop) discard(body)
      events.return().catch(() => {})
    }
  }

  #ticket({ inbound, server }: Heard, id: string | undefined): string | undefined {
    if (!isTicketable(id)) return undefined
    const { accountId: account, lineage } = inbound.caller
    return this.#deps.tickets.give('event', id, { account, lineage, server: server.name })
  }

  /** A key that is revoked meanwhile hears nothing more. */
  async #checkKey({ inbound }: Heard, address: string): Promise<void> {
    const admitted = await this.#deps.admission.admit({ headers: inbound.headers, address, scope: 'mcp:call', cost: 0 })
    if (admitted instanceof Fault) throw admitted
  }

  /** Ends what is only listened to; clients open it again, and are served by whoever comes next. */
  drain(): void {
    this.#isStopping = true
    for (const stop of this.#open) stop()
  }
}

function isResponse(message: JsonObject): boolean {
  return message.method === undefined
}

function asFault(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('upstream_error', { cause: error })
}
