/**
 * Calls: a client's message on its way to a server: bytes → strict JSON → one message → the named tool or resource →
 * verdict → act. The server gets the serialisation of the judged message; its answer is judged before the client sees
 * it.
 */
import type { Budget } from '../../base/budget.js'
import type { JsonObject } from '../../base/chat.js'
import type { Clock } from '../../base/clock.js'
import { Fault } from '../../base/errors.js'
import { type Message, type MessageId, readMessage } from '../../dialects/mcp/message.js'
import { methodOf, type Revision, stateless } from '../../dialects/mcp/methods.js'
import { readFromClient, reviewedOf } from '../../dialects/mcp/read.js'
import { type Answering, faultError, rpcCodes, rpcError } from '../../dialects/mcp/write.js'
import { asRequest, clientMessage } from '../../dialects/mcp.js'
import { readingCaller } from '../../dialects/walk.js'
import { bodyMissing, decodeBody, payloadTooLarge } from '../../edge/body.js'
import { largeTurns } from '../../edge/large-turns.js'
import { parseJson } from '../../json/parse.js'
import { describeError, type Log } from '../../observe/log.js'
import { type Metrics, statusClass } from '../../observe/metrics.js'
import type { UpstreamRecorder } from '../../observe/upstream-answers.js'
import { Cancel, ClientGone, type Exchange, type Inbound, type Reply } from '../exchange.js'
import { addVerdictHeaders, jsonType, mediaTypes } from '../headers.js'
import type { Requests } from '../request/request.js'
import { tellAnswered } from '../upstream/answered.js'
import { readAll, type UpstreamAnswer } from '../upstream/send.js'
import type { Gate } from './gate.js'
import { mismatchOf, revisionOf, serverHeaders, sessionHeader } from './headers.js'
import { whileHeld } from './held.js'
import type { Heard, Relay } from './relay.js'
import type { McpServer } from './server.js'
import type { McpStreams } from './streams.js'
import { isTicketable, type Tickets } from './tickets.js'
import type { Transmit } from './transmit.js'

export interface CallDeps {
  requests: Requests
  gate: Gate
  relay: Relay
  streams: McpStreams
  tickets: Tickets
  transmit: Transmit
  budget: Budget
  clock: Pick<Clock, 'monotonic'>
  metrics: Pick<Metrics, 'overhead' | 'upstreamDuration'>
  answered: UpstreamRecorder
  log: Log
}

/** Facts of the HTTP edge about one call. */
export interface Call {
  inbound: Inbound
  server: McpServer
  /** The client's address, for the list of its key. */
  address: string
}

/** Statuses of a server that have a meaning for the client; others concern the gateway's own request. */
const toldStatuses: ReadonlySet<number> = new Set([400, 404, 405, 406, 409, 410, 415, 422, 429])
const maxAnswer = 16 * 1024 * 1024
/** Methods that list or describe the offers of a server. */
const offering = /^(?:initialize|server\/discover|(?:tools|prompts|resources|resources\/templates)\/list)$/

export class Calls {
  readonly #deps: CallDeps

  constructor(deps: CallDeps) {
    this.#deps = deps
  }

  /**
   * @param bytes the body as it came, still in its content coding
   * @throws Fault where there is no request that could be answered; the reason of the cancel where the client has left
   */
  async post(call: Call, bytes: Buffer): Promise<{ reply: Reply; exchange: Exchange | undefined }> {
    const { inbound, server } = call
    this.#deps.gate.checkScopes(server, inbound.caller)
    const revision = revisionOf(inbound.headers)
    const { message, size } = await this.#read(inbound, bytes)
    const opened: { exchange?: Exchange } = {}
    try {
      const reply = await this.#take(call, { message, revision, size }, opened)
      return { reply, exchange: opened.exchange }
    } catch (error) {
      if (inbound.cancel.reason !== undefined && inbound.cancel.reason instanceof ClientGone) throw error
      return { reply: this.#failed(call, message, error), exchange: opened.exchange }
    }
  }

  async #read({ caller, headers, entry }: Inbound, bytes: Buffer): Promise<{ message: Message; size: number }> {
    const decoding = decodeBody(bytes, headers['content-encoding'], entry.bodyLimit)
    const decoded = decoding instanceof Promise ? await decoding : decoding
    const turn = largeTurns.take(caller.lineage, decoded.length)
    if (turn !== undefined) await turn
    if (decoded.length === 0) throw bodyMissing()
    if (decoded.length > entry.bodyLimit) throw payloadTooLarge(entry.bodyLimit)
    const { nodes, parts } = this.#deps.budget
    return { message: readMessage(parseJson(decoded, { nodes, keys: parts })), size: decoded.length }
  }

  async #take(
    call: Call,
    { message, revision, size }: { message: Message; revision: Revision; size: number },
    opened: { exchange?: Exchange }
  ): Promise<Reply> {
    const { inbound, server } = call
    const { requestId, headers, caller } = inbound
    const { id } = message
    const refused = this.#unfit(message, revision, headers)
    if (refused !== undefined) return refused
    const method = message.kind === 'response' ? '' : message.method
    const answering: Answering = {
      id: message.kind === 'request' ? id : undefined,
      asResult: server.route.respond === 'message' && method === 'tools/call' && message.kind === 'request',
      isStateless: revision === stateless
    }
    const spoken = clientMessage(message, answering, offering.test(method) ? 'mcp_definition' : 'mcp_result')
    const respond = answering.asResult ? ('message' as const) : ('error' as const)
    const route = { ...server.route, spoken, respond }
    const { parts } = this.#deps.budget
    const chat = readingCaller(parts, () => asRequest(readFromClient(message)))
    const reviewed = reviewedOf(message)
    const exchange = this.#deps.requests.open(inbound, route, chat, { body: message.body, bytes: size, reviewed })
    opened.exchange = exchange
    // The gate comes before the verdict, since it costs less; definitions that it refuses were judged when they were
    // listed.
    const policy = typeof exchange.policy === 'string' ? exchange.policy : exchange.policy.label
    if (message.kind === 'request') {
      const instead = await this.#deps.gate.check(server, caller, message, { policy, requestId })
      if (instead !== undefined) return json(200, instead)
    }
    const session = this.#sessionOf(call)
    const sent = serverHeaders(headers, message, session)
    const outcome = this.#judged(call, exchange, { message, revision, sent }).catch((error: unknown) => {
      if (inbound.cancel.reason instanceof ClientGone) throw error
      return this.#failed(call, message, error)
    })
    // No fault: the client left, and nobody waits for this outcome.
    outcome.catch(() => {})
    return message.kind === 'request' ? whileHeld(exchange, message.params, outcome) : outcome
  }

  /** The refusal of a message that its revision does not know. */
  #unfit(message: Message, revision: Revision, headers: Inbound['headers']): Reply | undefined {
    if (message.kind === 'response') return undefined
    const { method, kind } = message
    const mismatch = mismatchOf(headers, message)
    if (mismatch !== undefined) {
      return json(400, rpcError(message.id ?? null, rpcCodes.headerMismatch, `Header mismatch: ${mismatch}.`))
    }
    if (methodOf(method, { from: 'client', revision, isNotification: kind === 'notification' }) !== undefined)
      return undefined
    // Some clients send methods of a later revision, to find out which one the server speaks.
    if (kind === 'notification') throw new Fault('not_found', { message: 'This notification is not taken.' })
    const status = revision === stateless ? 404 : 200
    return json(status, rpcError(message.id, rpcCodes.methodNotFound, 'Method not found'))
  }

  /** @throws Fault `not_found` for a session of another key: its client begins another (specification 2025-03-26) */
  #sessionOf({ inbound, server }: Call): string | undefined {
    const ticket = inbound.headers[sessionHeader]
    if (ticket === undefined) return undefined
    const { accountId: account, lineage } = inbound.caller
    const session = this.#deps.tickets.takeSession(String(ticket), { account, lineage, server: server.name })
    if (session === undefined) throw new NoSession()
    return session
  }

  async #judged(
    call: Call,
    exchange: Exchange,
    { message, revision, sent }: { message: Message; revision: Revision; sent: Record<string, string> }
  ): Promise<Reply> {
    const { clock, metrics, requests, transmit, answered } = this.#deps
    const { inbound, server } = call
    const verdict = await requests.judge(exchange)
    if (!('bytes' in verdict)) {
      addVerdictHeaders(verdict.headers, exchange, exchange.verdict)
      this.#observe(exchange)
      if (message.kind === 'request') return { ...verdict, status: 200 }
      if (message.kind === 'response') this.#tellUnanswered(exchange, server, message.id, sent)
      return { ...verdict, body: plainRefusal(verdict) }
    }
    const began = clock.monotonic()
    let status: number | undefined
    let failure: unknown
    try {
      const answer = await transmit(exchange, { server, method: 'POST', headers: sent, body: verdict.bytes })
      status = answer.status
      const { 'mcp-method': _, 'mcp-name': __, ...toldWith } = sent
      const heard: Heard = {
        inbound,
        server,
        revision,
        exchange,
        id: message.kind === 'request' ? message.id : undefined,
        key: answer.key,
        sent: toldWith
      }
      const reply = await this.#answered(call, heard, message, answer)
      addVerdictHeaders(reply.headers, exchange, exchange.verdict)
      return reply
    } catch (error) {
      failure = error
      throw error
    } finally {
      exchange.upstreamMs = clock.monotonic() - began
      tellAnswered(answered, exchange, server.name, { status, error: failure })
      metrics.upstreamDuration.of(exchange.route.id, statusClass(status ?? 502)).observe(exchange.upstreamMs / 1000)
      this.#observe(exchange)
    }
  }

  /** Tells the server that the awaited answer was refused: its own call would wait until it times out. */
  #tellUnanswered(exchange: Exchange, server: McpServer, id: MessageId, headers: Record<string, string>): void {
    const { transmit, log } = this.#deps
    const told = rpcError(id, rpcCodes.invalidRequest, 'The answer was refused by the policy.')
    const inbound = { ...exchange.inbound, cancel: new Cancel() }
    transmit(exchange, { server, method: 'POST', headers, body: Buffer.from(JSON.stringify(told)), inbound })
      .then((answer) => readAll(answer, maxAnswer))
      .catch((error: unknown) =>
        log.debug(
          { request_id: inbound.requestId, server: server.name, err: describeError(error) },
          'a refusal was not accepted'
        )
      )
  }

  async #answered(call: Call, heard: Heard, message: Message, answer: UpstreamAnswer): Promise<Reply> {
    const { status, headers, body } = answer
    const isOk = status >= 200 && status < 300
    const type = (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
    if (!isOk && !toldStatuses.has(status)) {
      await readAll(answer, maxAnswer)
      throw new Fault('upstream_error', { internal: `status ${status}` })
    }
    if (message.kind !== 'request') {
      await readAll(answer, maxAnswer)
      // A notification has no answer, so the server's words are not passed to the client.
      if (!isOk) return json(status, { error: 'upstream_error', message: 'The server did not accept the message.' })
      return { status: 202, headers: {}, body: '' }
    }
    const own: Record<string, string> = {}
    if (isOk && message.method === 'initialize') Object.assign(own, this.#sessionFor(call, headers[sessionHeader]))
    if (isOk && type === 'text/event-stream' && !Buffer.isBuffer(body)) {
      const rest = this.#deps.streams.relay(heard, body, call.address)
      return {
        status: 200,
        headers: { ...own, 'content-type': mediaTypes.sse.sent, 'cache-control': 'no-cache' },
        body: '',
        rest
      }
    }
    const bytes = await readAll(answer, maxAnswer)
    if (type !== 'application/json') {
      if (isOk) throw new Fault('upstream_error', { internal: 'not JSON and no events' })
      return json(status, rpcError(message.id, rpcCodes.invalidRequest, 'The server did not accept the message.'))
    }
    const told = isOk ? await this.#deps.relay.take(heard, bytes) : await this.#refusal(heard, message, bytes)
    if (told === undefined) throw new Fault('upstream_error', { internal: 'the answer is to another request' })
    return { ...json(status, told), headers: { ...own, 'content-type': jsonType } }
  }

  /**
   * The answer to a client when the server refuses a message: the server's error, or ours where its text is no protocol
   * message.
   */
  async #refusal(heard: Heard, { id }: Message, bytes: Buffer): Promise<JsonObject> {
    const unsaid = rpcError(id ?? null, rpcCodes.invalidRequest, 'The server did not accept the message.')
    try {
      const value = parseJson(bytes)
      // A server that could not parse the request answers without its id.
      const named =
        typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value, id: id ?? null } : value
      return (await this.#deps.relay.take(heard, JSON.stringify(named))) ?? unsaid
    } catch (error) {
      if (error instanceof Fault && error.code !== 'upstream_error' && error.code !== 'validation_error') throw error
      return unsaid
    }
  }

  #sessionFor({ inbound, server }: Call, session: unknown): Record<string, string> {
    if (!isTicketable(session)) return {}
    const { accountId: account, lineage } = inbound.caller
    return { [sessionHeader]: this.#deps.tickets.giveSession(session, { account, lineage, server: server.name }) }
  }

  #failed({ inbound, server }: Call, message: Message, error: unknown): Reply {
    const fault = error instanceof Fault ? error : new Fault('internal_error', { cause: error })
    const { requestId } = inbound
    if (fault.status >= 500) {
      this.#deps.log.error({ request_id: requestId, upstream: server.name, err: describeError(fault) }, fault.code)
    }
    if (message.kind !== 'request' || error instanceof NoSession) {
      const { entry } = inbound
      return {
        ...json(fault.status, entry.dialect.error(fault, requestId)),
        headers: { ...fault.headers, 'content-type': jsonType }
      }
    }
    return {
      ...json(200, faultError(message.id, fault, requestId)),
      headers: { ...fault.headers, 'content-type': jsonType }
    }
  }

  #observe({ route, inbound, upstreamMs }: Exchange): void {
    const { clock, metrics } = this.#deps
    const total = clock.monotonic() - inbound.started
    metrics.overhead.of(route.id).observe(Math.max(0, total - upstreamMs) / 1000)
  }
}

/** Its status makes clients begin another session. */
class NoSession extends Fault {
  constructor() {
    super('not_found', { message: 'There is no such session: begin another one.' })
  }
}

function json(status: number, body: JsonObject): Reply {
  return { status, headers: { 'content-type': jsonType }, body: JSON.stringify(body) }
}

function plainRefusal({ body }: Reply): string {
  const { error, message, ...rest } = JSON.parse(String(body)) as JsonObject
  return JSON.stringify({ error: error!, message: message!, ...rest })
}
