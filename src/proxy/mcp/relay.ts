/**
 * Relays a server's messages: each is parsed strictly, judged whole, and serialised anew. A refused answer is replaced
 * by an error; other refused messages are dropped, and a server that waits for an answer to one gets a refusal.
 */
import type { ChatRequest, Json, JsonObject } from '../../base/chat.js'
import { Fault } from '../../base/errors.js'
import { type Message, type MessageId, readMessage } from '../../dialects/mcp/message.js'
import { isRevision, methodOf, type Revision, stateless } from '../../dialects/mcp/methods.js'
import { rpcCodes, rpcError } from '../../dialects/mcp/write.js'
import { asRequest } from '../../dialects/mcp.js'
import { isObject } from '../../dialects/rewrite.js'
import { Collector } from '../../dialects/walk.js'
import { largeTurns } from '../../edge/large-turns.js'
import { parseJson } from '../../json/parse.js'
import { describeError, type Log } from '../../observe/log.js'
import type { Answers, Judged } from '../answer/answer.js'
import { refuseCredential } from '../answer/read.js'
import { Cancel, type Exchange, type Inbound } from '../exchange.js'
import type { Requests } from '../request/request.js'
import { readAll } from '../upstream/send.js'
import { type Definitions, dropPictures, holdsDefinitions } from './definitions.js'
import type { McpServer } from './server.js'
import type { Transmit } from './transmit.js'

const answerNodes = 1_000_000
/** Bytes of a server's answer to a refusal. */
const maxTold = 1024 * 1024
const nobody = new Collector(new Set())
const empty: ChatRequest = asRequest(nobody)

/** The source of messages, and the request that they may answer. */
export interface Heard {
  inbound: Inbound
  server: McpServer
  revision: Revision
  /** The request that is answered; undefined on a stream that was opened by GET. */
  exchange: Exchange | undefined
  /**
   * Id of the answered request, also where its stream is resumed by GET; undefined: none. A response to another request
   * is dropped: the client would take it for the end of the stream.
   */
  id: MessageId | undefined
  /** The credential that was used. */
  key: string | undefined
  /** Headers with which the server is told of a refusal. */
  sent: Readonly<Record<string, string>>
}

export interface RelayDeps {
  requests: Requests
  answers: Answers
  definitions: Definitions
  transmit: Transmit
  log: Log
}

export class Relay {
  readonly #deps: RelayDeps

  constructor(deps: RelayDeps) {
    this.#deps = deps
  }

  /**
   * Judges one message of a server.
   * @returns the message for the client; undefined: nothing
   * @throws Fault `upstream_error` for a value that is no message of the protocol, and the errors of the evaluator
   */
  async take(heard: Heard, data: string | Buffer): Promise<JsonObject | undefined> {
    const message = await this.#read(heard, data)
    if (message.kind === 'response') return this.#response(heard, message)
    const { method, id, kind } = message
    const isNotification = kind === 'notification'
    if (methodOf(method, { from: 'server', revision: heard.revision, isNotification }) === undefined) {
      this.#deps.log.debug({ request_id: heard.inbound.requestId, server: heard.server.name }, 'an unknown method')
      if (!isNotification) this.#tell(heard, rpcError(id, rpcCodes.methodNotFound, 'This method is not supported.'))
      return undefined
    }
    const judged = await this.#deps.answers.ofReply(this.#open(heard), message.body, heard.key)
    if (judged.headers === undefined) return judged.body ?? message.body
    if (!isNotification)
      this.#tell(heard, rpcError(id, rpcCodes.invalidRequest, 'The request was refused by the policy.'))
    return undefined
  }

  async #read({ inbound, key }: Heard, data: string | Buffer): Promise<Message> {
    const turn = largeTurns.take(inbound.caller.lineage, data.length)
    if (turn !== undefined) await turn
    let value: Json
    try {
      value = parseJson(data, { nodes: answerNodes, anyNumbers: true })
    } catch (cause) {
      throw new Fault('upstream_error', { cause, internal: 'a message is not readable' })
    }
    refuseCredential(key, value)
    try {
      return readMessage(value)
    } catch (cause) {
      throw new Fault('upstream_error', { cause, internal: 'not a message of JSON-RPC' })
    }
  }

  async #response(heard: Heard, message: Message & { kind: 'response' }): Promise<JsonObject | undefined> {
    const { body, result, id } = message
    if (id !== heard.id) return undefined
    const exchange = heard.exchange ?? this.#open(heard)
    if (result !== undefined) {
      checkRevision(result)
      if (isObject(result.serverInfo)) dropPictures(result.serverInfo)
    }
    const judged: Judged =
      result !== undefined && holdsDefinitions(result)
        ? await this.#deps.definitions.judge(exchange, heard.server, body)
        : await this.#deps.answers.ofReply(exchange, body, heard.key)
    const told = judged.body ?? body
    // Without the request of this stream, the replacement for an answer cannot name its id.
    return heard.exchange === undefined && judged.headers !== undefined ? { ...asError(told), id } : told
  }

  /** Answers a server's refused request with an error, since no client will answer it. */
  #tell(heard: Heard, refusal: JsonObject): void {
    const { server, sent: headers } = heard
    const inbound = { ...heard.inbound, cancel: new Cancel() }
    const body = Buffer.from(JSON.stringify(refusal))
    this.#deps
      .transmit(heard.exchange ?? this.#open(heard), { server, method: 'POST', headers, body, inbound })
      .then((answer) => readAll(answer, maxTold))
      .catch((error: unknown) =>
        this.#deps.log.debug(
          { request_id: inbound.requestId, server: server.name, err: describeError(error) },
          'a refusal was not accepted'
        )
      )
  }

  #open({ inbound, server }: Heard): Exchange {
    return this.#deps.requests.open(inbound, server.route, empty, { body: {} })
  }
}

/** A refusal without a known request, as an error without an id. */
function asError(refusal: JsonObject): JsonObject {
  const { message, ...data } = refusal
  return rpcError(null, rpcCodes.invalidRequest, String(message), data)
}

/** Checks the revision that a server chose: an unknown revision could carry fields that are not judged here. */
function checkRevision({ protocolVersion, supportedVersions }: JsonObject): void {
  const chosen = typeof protocolVersion === 'string' && (!isRevision(protocolVersion) || protocolVersion === stateless)
  if (chosen) throw new Fault('upstream_error', { internal: 'the server chose another revision' })
  if (
    Array.isArray(supportedVersions) &&
    !supportedVersions.some((each) => typeof each === 'string' && isRevision(each))
  ) {
    throw new Fault('upstream_error', { internal: 'the server knows other revisions' })
  }
}
