/**
 * The client's half of a session: each event is a request of its own, read, judged and acted on by the same funnel as a
 * chat, one after the other. What is refused is answered with an `error` event that names it; the session goes on.
 */
import { defaultBudget } from '../../base/budget.js'
import type { ChatRequest, JsonObject } from '../../base/chat.js'
import { Fault, invalid } from '../../base/errors.js'
import { isObject } from '../../dialects/rewrite.js'
import { largeTurns } from '../../edge/large-turns.js'
import { parseJson } from '../../json/parse.js'
import { describeError } from '../../observe/log.js'
import type { Exchange, Reply } from '../exchange.js'
import { passMedia } from '../receipt.js'
import { type Forward, judgeRequest, openExchange } from '../request.js'
import type { Frame } from './peer.js'
import { Said } from './said.js'
import type { Session } from './session.js'

/** Events that add nothing to what a model is asked but sound: as free as the chunks of a body. */
const soundEvents = /^(?:input_audio_buffer\.(?:append|commit|clear)|output_audio_buffer\.clear)$/
const soundFields = new Set(['type', 'event_id', 'audio'])
/** UTF-16 units of text that such an event may hold: its own name, and no more. */
const maxFreeUnits = 128
/** From so many units on an event is judged in its turn: what is shorter takes less time than to wait. */
const longUnits = 4096
/** The turn of the next one comes after a rest as long as this one took, and no longer than this, ms. */
const longestRest = 500

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
      const turn = largeTurns.take(session.inbound.caller.lineage, frame.length)
      if (turn !== undefined) await turn
      const value = parseJson(frame, { nodes: (session.deps.budget ?? defaultBudget).nodes })
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
    if (!isFree(event, chat)) {
      const charged = await deps.admission.charge(inbound.caller, 1)
      if (charged instanceof Fault) throw charged
    }
    const { event_id: _, ...reviewed } = event
    const exchange = { ...openExchange(deps, inbound, route, event, withSession(chat, session)), reviewed }
    if (route.unscannable === 'permit' && chat.parts.length === 0 && chat.media.length > 0) {
      // Sound alone, many times a second: there is nothing in it that a verdict could be about.
      passMedia(exchange, chat)
    } else {
      const verdict = await this.#judge(exchange)
      if (!('bytes' in verdict)) {
        await session.tell(refusalOf(verdict, event))
        return
      }
      this.#remember(exchange)
    }
    if (event.type === 'response.create') session.awaitResponse()
    await session.upstream.send(JSON.stringify(exchange.body))
  }

  /** Sessions bring no connection each for an event, so nothing else holds back who sends one long event after the other. */
  async #judge(exchange: Exchange): Promise<Forward | Reply> {
    if (unitsOf(exchange.chat) < longUnits) return judgeRequest(exchange)
    const letGo = await this.#session.turn()
    const began = performance.now()
    try {
      return await judgeRequest(exchange)
    } finally {
      setTimeout(letGo, Math.min(longestRest, performance.now() - began))
    }
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

/** Whether an event holds sound and its own name alone, each of its type, and next to nothing to judge. */
function isFree(event: JsonObject, chat: ChatRequest): boolean {
  return (
    soundEvents.test(String(event.type)) &&
    Object.keys(event).every((name) => soundFields.has(name) && typeof event[name] === 'string') &&
    unitsOf(chat) <= maxFreeUnits
  )
}

function unitsOf({ parts }: ChatRequest): number {
  return parts.reduce((sum, { text }) => sum + text.length, 0)
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
