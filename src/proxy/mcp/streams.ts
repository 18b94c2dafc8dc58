/** Streams a server's events to a client: they are judged one after the other, at the pace of the reader. */
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
  /** The streams of its configuration; a reload may hand it to those of the next one. */
  by: McpStreams
  heard: Heard
  /** Whether the client can resume it. */
  hasIds: boolean
  stop(): void
}

export class McpStreams {
  readonly #deps: StreamDeps
  /** Listening streams. */
  readonly #open = new Set<Running>()
  /** Listening streams over connections of this configuration, even if a later one runs them now. */
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
      // A client that can resume is cut off, and resumes; any other gets an error message.
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
    // A listening stream has no end of its own: the stopping gateway ends it.
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

  /** Stops the stream of a key that was revoked meanwhile. */
  async #checkKey({ inbound }: Heard, address: string): Promise<void> {
    const admitted = await this.#deps.admission.admit({ headers: inbound.headers, address, scope: 'mcp:call', cost: 0 })
    if (admitted instanceof Fault) throw admitted
  }

  /** Ends the listening streams; clients open them again, at another process or the next configuration. */
  drain(): void {
    this.#isStopping = true
    for (const { stop } of this.#open) stop()
  }

  /**
   * Hands the listening streams to the next configuration.
   * @param as maps a stream to its source there; undefined: it ends
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

/**
 * An event with nothing but an id for resuming. Servers with the official SDK store it as `{}` and replay it as such.
 */
function saysNothing(data: string): boolean {
  return data === '' || data === '{}'
}

/** `Relay.take` passes only responses to the request of the stream, which ends with its response. */
function isResponse(message: JsonObject): boolean {
  return message.method === undefined
}

function asFault(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('upstream_error', { cause: error })
}
