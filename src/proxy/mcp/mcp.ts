/**
 * The guarded MCP servers of one configuration, and their parts: calls (`calls.ts`), messages of the server
 * (`relay.ts`), its definitions (`definitions.ts`, `pins.ts`). A reload makes a new one.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type Budget, defaultBudget } from '../../base/budget.js'
import { Fault } from '../../base/errors.js'
import type { McpServerSettings } from '../../base/settings.js'
import { asRequest } from '../../dialects/mcp.js'
import { Collector } from '../../dialects/walk.js'
import type { Admission } from '../../identity/admission.js'
import type { Tracing } from '../../observe/tracing.js'
import type { Seal } from '../../sealing/seal.js'
import type { AuditStore } from '../../storage/contracts/audit.js'
import type { PinStore } from '../../storage/contracts/pins.js'
import type { CounterStore } from '../../storage/contracts/shared-state.js'
import type { Exchange, Reply } from '../exchange.js'
import { jsonType, mediaTypes } from '../headers.js'
import type { ChatProxy } from '../proxy.js'
import type { Reviews } from '../review.js'
import { discard, Sender } from '../upstream/send.js'
import { closeUpstreams } from '../upstream/upstreams.js'
import { type Call, Calls } from './calls.js'
import { Definitions } from './definitions.js'
import { Gate } from './gate.js'
import { lastEventHeader, revisionOf, serverHeaders, sessionHeader } from './headers.js'
import { Pins } from './pins.js'
import { type Heard, Relay } from './relay.js'
import { compileServer, listening, type McpServer, openServers } from './server.js'
import { McpStreams } from './streams.js'
import { type EventPlace, type Holder, Tickets } from './tickets.js'
import { createTransmit, type Transmit } from './transmit.js'

export interface McpDeps {
  proxy: Pick<ChatProxy, 'answered' | 'stages' | 'sender' | 'metrics' | 'clock' | 'log'>
  reviews: Pick<Reviews, 'open' | 'consume'>
  pins: PinStore
  seal: Seal
  counters: CounterStore
  admission: Pick<Admission, 'admit'>
  audit: Pick<AuditStore, 'append'>
  /** Limits of one message. Default: `defaultBudget`. */
  budget?: Budget
  tracing?: Tracing | undefined
}

const closeMs = 1_000
const nothing = asRequest(new Collector(new Set()))

export class McpProxy {
  readonly servers: readonly McpServer[]
  readonly #deps: McpDeps
  readonly #calls: Calls
  readonly #streams: McpStreams
  readonly #tickets: Tickets
  readonly #gate: Gate
  readonly #relay: Relay
  readonly #transmit: Transmit
  readonly #sender: Sender

  constructor(deps: McpDeps, servers: Readonly<Record<string, McpServerSettings>>) {
    const { proxy, reviews, pins: store, seal, counters, admission, audit, budget = defaultBudget, tracing } = deps
    const { clock, metrics, log, stages } = proxy
    const { requests, answers } = stages
    this.#deps = deps
    this.servers = Object.values(servers).map(compileServer)
    this.#sender = new Sender(openServers(Object.values(servers)), proxy.sender.propagate, 16 * 1024 * 1024)
    this.#transmit = createTransmit(this.#sender, tracing)
    const pins = new Pins({
      pins: store,
      reviews,
      seal,
      clock,
      waits({ account, server }, kind, occasion, reviewId) {
        log.warn({ server, kind, occasion, review_id: reviewId }, 'a definition of an MCP server waits for a person')
        const data = { kind, occasion, review_id: reviewId ?? null }
        audit.append({ at: clock.now(), kind: 'mcp.definition_waits', account, keyId: null, subject: server, data })
      }
    })
    this.#gate = new Gate({ pins, counters })
    this.#tickets = new Tickets(seal)
    const definitions = new Definitions({ answers, pins, withheld: (reason) => metrics.mcpWithheld.inc({ reason }) })
    this.#relay = new Relay({ requests, answers, definitions, transmit: this.#transmit, log })
    this.#streams = new McpStreams({ relay: this.#relay, tickets: this.#tickets, admission, metrics })
    this.#calls = new Calls({
      requests,
      gate: this.#gate,
      relay: this.#relay,
      streams: this.#streams,
      tickets: this.#tickets,
      transmit: this.#transmit,
      budget,
      clock,
      metrics,
      answered: proxy.answered,
      log
    })
  }

  /** @throws as `Calls.post` */
  post(call: Call, bytes: Buffer): Promise<{ reply: Reply; exchange: Exchange | undefined }> {
    return this.#calls.post(call, bytes)
  }

  /**
   * Opens a stream of unsolicited messages of a server, or resumes a broken one.
   * @throws Fault; the reason of the cancel where the client has left
   */
  async listen(call: Call): Promise<Reply> {
    const { inbound, server } = call
    const { exchange, session, revision } = this.#open(call)
    const given = inbound.headers[lastEventHeader]
    const headers = serverHeaders(inbound.headers, undefined, session)
    const place = given === undefined ? undefined : this.#placeOf(call, String(given))
    if (place !== undefined) headers[lastEventHeader] = place.event
    const answer = await this.#transmit(exchange, { server, method: 'GET', headers })
    const { body, status } = answer
    const type = (answer.headers['content-type'] ?? '').toLowerCase()
    if (status === 200 && type.startsWith(mediaTypes.sse.received) && !Buffer.isBuffer(body)) {
      const { [lastEventHeader]: _, ...sent } = headers
      const { key } = answer
      const heard: Heard = { inbound, server, revision, exchange: undefined, id: place?.answers, key, sent }
      return {
        status: 200,
        headers: { 'content-type': mediaTypes.sse.sent, 'cache-control': 'no-cache' },
        body: ': \n\n',
        rest: this.#streams.relay(heard, body, call.address)
      }
    }
    discard(body)
    throw refused(status)
  }

  /** Ends a session. @throws Fault; the reason of the cancel where the client has left */
  async end(call: Call): Promise<Reply> {
    const { inbound, server } = call
    const { exchange, session } = this.#open(call)
    const headers = serverHeaders(inbound.headers, undefined, session)
    const answer = await this.#transmit(exchange, { server, method: 'DELETE', headers })
    discard(answer.body)
    if (answer.status >= 200 && answer.status < 300) {
      return { status: 200, headers: { 'content-type': jsonType }, body: '{}' }
    }
    throw refused(answer.status)
  }

  #open(call: Call) {
    const { inbound, server } = call
    this.#gate.checkScopes(server, inbound.caller)
    const revision = revisionOf(inbound.headers)
    const given = inbound.headers[sessionHeader]
    const session = given === undefined ? undefined : this.#sessionOf(call, String(given))
    const { requests } = this.#deps.proxy.stages
    return { revision, session, exchange: requests.open(inbound, server.route, nothing, { body: {} }) }
  }

  #sessionOf(call: Call, ticket: string): string {
    return this.#tickets.takeSession(ticket, holderOf(call)) ?? unknown('session')
  }

  #placeOf(call: Call, ticket: string): EventPlace {
    return this.#tickets.takeEvent(ticket, holderOf(call)) ?? unknown('event')
  }

  /** Ends the streams that are only listened to. */
  drain(): void {
    this.#streams.drain()
  }

  /**
   * Hands listening streams to the next configuration, where it reaches the same server in the same way; the others
   * end. The next configuration judges their messages.
   */
  handOver(next: McpProxy): void {
    this.#streams.handOver(next.#streams, (heard) => next.#takesOver(heard))
  }

  #takesOver(heard: Heard): Heard | undefined {
    const server = this.servers.find(({ name }) => name === heard.server.name)
    return server !== undefined && isReachedAs(server, heard.server) ? { ...heard, server } : undefined
  }

  /** Closes all connections, except those of handed-over streams, which close when those end. */
  async close(): Promise<void> {
    this.drain()
    const kept = new Set(this.#streams.handedOver().map(({ name }) => listening(name)))
    const upstreams = [...this.#sender.upstreams]
    const going = upstreams.filter(([name]) => !kept.has(name))
    for (const [name, { pool }] of upstreams) if (kept.has(name)) pool.close().catch(() => {})
    // Bounded: a stream that its client does not read would keep its connection.
    await Promise.race([closeUpstreams(new Map(going)), delay(closeMs, undefined, { ref: false })])
    await Promise.all(going.map(([, { pool }]) => pool.destroy()))
  }
}

/** Compares all settings of a server except those of judging. */
function isReachedAs({ settings: one }: McpServer, { settings: other }: McpServer): boolean {
  return isDeepStrictEqual({ ...one, route: undefined }, { ...other, route: undefined })
}

function holderOf({ inbound, server }: Call): Holder {
  const { accountId: account, lineage } = inbound.caller
  return { account, lineage, server: server.name }
}

function unknown(what: 'session' | 'event'): never {
  throw new Fault('not_found', { message: `There is no such ${what}: begin another session.` })
}

/** The fault for a server's refusal of a stream, or of ending a session. */
function refused(status: number): Fault {
  if (status === 405) return new Fault('method_not_allowed', { headers: { allow: 'POST' } })
  if (status === 404) return new Fault('not_found', { message: 'There is no such session: begin another one.' })
  return new Fault('upstream_error', { internal: `status ${status}` })
}
