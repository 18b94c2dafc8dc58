/**
 * The client's half of a session: each event is a request of its own, read, judged and acted on by the same funnel as a
 * chat, one after the other. What is refused is answered with an `error` event that names it; the session goes on.
 */
import type { ChatRequest, JsonObject } from '../../chat.js'
import { isObject } from '../../dialects/rewrite.js'
import { Fault, invalid } from '../../errors.js'
import { parseJson } from '../../json/parse.js'
import { describeError } from '../../observe/log.js'
import type { Exchange, Reply } from '../exchange.js'
import { passMedia } from '../receipt.js'
import { type Forward, judgeRequest, openExchange } from '../request.js'
import type { Frame } from './peer.js'
import { Said } from './said.js'
import type { Session } from './session.js'

/** Events that add nothing to what a model is asked: as free as the chunks of a body. */
const free = /^(?:input_audio_buffer|output_audio_buffer)\./

export class Requests {
  readonly #session: Session
  readonly #said = new Said()

  constructor(session: Session) {
    this.#session = session
  }

  async run(): Promise<void> {
    const { client } = this.#session
    for (let frame = await client.next(); frame !== undefined; frame = await client.next()) {
      this.#session.touch()
      await this.#take(frame)
    }
  }

  async #take(frame: Frame): Promise<void> {
    const session = this.#session
    let event: JsonObject | undefined
    try {
      if (frame === 'binary') throw invalid('', 'wrong_type', 'Events are text frames that hold JSON.')
      const value = parseJson(frame)
      if (!isObject(value)) throw invalid('', 'wrong_type', 'An event must be a JSON object.')
      event = value
      if (!(await session.checkKey())) return
      await this.#forward(event)
    } catch (error) {
      if (session.isEnded) return
      const fault = error instanceof Fault ? error : new Fault('internal_error', { cause: error })
      if (fault.status >= 500) session.log.error({ request_id: session.id, err: describeError(fault) }, fault.code)
      await session.tellFault(fault, idOf(event))
      // RFC 6455 section 7.4.1: data of a type that is not accepted here.
      if (frame === 'binary') session.end('refused', 1003, 'unsupported_data')
    }
  }

  async #forward(event: JsonObject): Promise<void> {
    const session = this.#session
    const { deps, inbound, route } = session
    const chat = this.#said.join(route.spoken.readRequest(event, inbound.target))
    if (!free.test(String(event.type))) {
      const charged = await deps.admission.charge(inbound.caller, 1)
      if (charged instanceof Fault) throw charged
    }
    const { event_id: _, ...reviewed } = event
    const exchange = { ...openExchange(deps, inbound, route, event, withSession(chat, session)), reviewed }
    if (route.unscannable === 'permit' && chat.parts.length === 0 && chat.media.length > 0) {
      // Sound alone, many times a second: there is nothing in it that a verdict could be about.
      passMedia(exchange, chat)
    } else {
      const verdict = await judgeRequest(exchange)
      if (!('bytes' in verdict)) {
        await session.tell(refusalOf(verdict, event))
        return
      }
      this.#remember(exchange)
    }
    if (event.type === 'response.create') session.awaitResponse()
    await session.upstream.send(JSON.stringify(exchange.body))
  }

  /** What people or the mode let through would be found again in every event after it. */
  #remember({ chat, requestVerdict }: Exchange): void {
    if (requestVerdict?.decision === 'permit') this.#said.add(chat)
  }

  /** What the upstream heard the user say, judged as if it had been written. */
  async judgeSpoken(event: JsonObject, chat: ChatRequest): Promise<{ verdict: Forward | Reply; exchange: Exchange }> {
    const { deps, inbound, route } = this.#session
    const exchange = openExchange(deps, inbound, route, event, withSession(chat, this.#session))
    return { verdict: await judgeRequest(exchange), exchange }
  }
}

/** The turns of one connection belong together, unless the caller ties them to others. */
function withSession(chat: ChatRequest, { id }: Session): ChatRequest {
  return { ...chat, session: `realtime.${id}` }
}

function idOf(event: JsonObject | undefined): string | undefined {
  return typeof event?.event_id === 'string' ? event.event_id : undefined
}

/** The error that the funnel wrote, as an event. */
export function refusalOf({ body }: Reply, event: JsonObject): JsonObject {
  const { error } = JSON.parse(String(body)) as { error: JsonObject }
  const { status: _, ...told } = error
  return { type: 'error', error: { ...told, event_id: idOf(event) ?? null } }
}
