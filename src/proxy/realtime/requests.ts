/**
 * The client's half of a session: each event is a request of its own and passes the same funnel as a chat, one after
 * the other. A refused event is answered with an `error` event that names it; the session goes on.
 */
import type { ChatPart, ChatRequest, JsonObject, Role } from '../../base/chat.js'
import { Fault, invalid } from '../../base/errors.js'
import { strictestAct } from '../../base/unscannable.js'
import { isObject } from '../../dialects/rewrite.js'
import { readingCaller } from '../../dialects/walk.js'
import { largeTurns } from '../../edge/large-turns.js'
import { parseJson } from '../../json/parse.js'
import type { Exchange, Forward, Reply } from '../exchange.js'
import { SpokenSound } from './client-sound.js'
import { sessionChange } from './ears.js'
import { conversationPointer } from './neighbourhood.js'
import type { Frame } from './peer.js'
import type { Session } from './session.js'

/** Events that add only sound to the conversation: they cost nothing, like chunks of a body. */
const soundEvents = /^(?:input_audio_buffer\.(?:append|commit|clear)|output_audio_buffer\.clear)$/
const soundFields = new Set(['type', 'event_id', 'audio'])
/** UTF-16 units of text that such an event may hold: enough for its own name. */
const maxFreeUnits = 128
/** UTF-16 units from which an event waits for a turn: judging a shorter one takes less time than waiting. */
const longUnits = 4096
/** After each turn follows a rest as long as the turn took, but at most this long, ms. */
const longestRest = 500

export class ClientHalf {
  readonly #session: Session
  readonly #said = new Said()
  /** Undefined where sound is not heard. */
  readonly #sound: SpokenSound | undefined

  constructor(session: Session) {
    this.#session = session
    const { ears } = session
    const refuse = (reply: Reply, event: JsonObject) => session.tell(refusalOf(reply, event))
    if (ears !== undefined) this.#sound = new SpokenSound(session, ears, refuse)
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
      const { nodes, parts } = session.deps.budget
      const value = parseJson(frame, { nodes, keys: parts })
      if (!isObject(value)) throw invalid('', 'wrong_type', 'An event must be a JSON object.')
      event = value
      if (!(await session.checkKey())) return
      await this.#forward(event)
    } catch (error) {
      if (session.isEnded) return
      const fault = error instanceof Fault ? error : new Fault('internal_error', { cause: error })
      if (fault.status >= 500) session.report(fault)
      await session.tellFault(fault, idOf(event))
      // RFC 6455 section 7.4.1: data of a type that is not accepted here.
      if (frame === 'binary') session.end('refused', 1003, 'unsupported_data')
    }
  }

  async #forward(event: JsonObject): Promise<void> {
    const session = this.#session
    const { deps, inbound, route } = session
    if (this.#sound !== undefined && (await this.#sound.take(event))) return
    const read = this.#said.join(
      readingCaller(deps.budget.parts, () => route.spoken.readRequest(event, inbound.target))
    )
    const heard = this.#sound === undefined ? read : await this.#sound.within(event, read)
    const chat = session.conversation.around(event, heard)
    if (!isFree(event, chat)) {
      const charged = await deps.admission.charge(inbound.caller, 1)
      if (charged instanceof Fault) throw charged
    }
    const { event_id: _, ...reviewed } = event
    const exchange = deps.requests.open(inbound, route, withSession(chat, session), { body: event, reviewed })
    if (chat.media.length > 0 && chat.parts.length === 0 && strictestAct(route.unscannable, chat.media) === 'permit') {
      // Events with sound alone come many times a second, and hold nothing to judge.
      deps.verdicts.passMedia(exchange, chat)
    } else {
      const verdict = await this.#judge(exchange)
      if (!('bytes' in verdict)) {
        await session.tell(refusalOf(verdict, event))
        return
      }
      this.#remember(exchange)
    }
    session.conversation.sent(event, chat, exchange.requestVerdict?.decision === 'permit')
    if (event.type === 'response.create') session.awaitResponse()
    if (sessionChange.test(String(event.type))) session.ears?.changes(exchange.body)
    await session.upstream.send(JSON.stringify(exchange.body))
  }

  /** The events of a session share one connection, so nothing else slows a client that sends many long events. */
  async #judge(exchange: Exchange): Promise<Forward | Reply> {
    const { requests } = this.#session.deps
    if (unitsOf(exchange.chat) < longUnits) return requests.judge(exchange)
    const letGo = await this.#session.turn()
    const began = performance.now()
    try {
      return await requests.judge(exchange)
    } finally {
      setTimeout(letGo, Math.min(longestRest, performance.now() - began))
    }
  }

  /**
   * Refused content that a reviewer or the mode permitted is left out: it would be found again in every later event.
   */
  #remember({ chat, requestVerdict }: Exchange): void {
    if (requestVerdict?.decision === 'permit') this.#said.add(chat)
  }

  /** Judges the upstream's transcript of the user like written text. */
  async judgeSpoken(event: JsonObject, chat: ChatRequest): Promise<{ verdict: Forward | Reply; exchange: Exchange }> {
    const { deps, inbound, route } = this.#session
    const exchange = deps.requests.open(inbound, route, withSession(chat, this.#session), { body: event })
    return { verdict: await deps.requests.judge(exchange), exchange }
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

/** UTF-16 units of the event's own texts: those of the conversation are bounded. */
function unitsOf({ parts }: ChatRequest): number {
  return parts.reduce((sum, { text, pointer }) => (pointer === conversationPointer ? sum : sum + text.length), 0)
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

const roles: readonly Role[] = ['system', 'assistant', 'tool']
/** Texts of one role, and UTF-16 units of all of them. */
const maxTexts = 8
const maxUnits = 2000

/** Leaves that hold spoken or written words, not names. */
const spoken = /\/(?:text|transcript|refusal|output|arguments|instructions)$/

/**
 * The permitted texts of a session that are not the user's: instructions, prefill, results of tools. A model reads
 * those of one role as one text over all events, so they are judged joined. The evaluator's own session joins the
 * user's words.
 */
class Said {
  readonly #texts = new Map<Role, string[]>()

  /** The event together with the earlier texts, which have no pointer into it. */
  join(chat: ChatRequest): ChatRequest {
    const before: ChatPart[] = []
    const runs: number[][] = []
    for (const role of roles) {
      const now = chat.parts.flatMap((part, index) => (isSpoken(part, role) ? [index] : []))
      const texts = this.#texts.get(role)
      if (now.length === 0 || texts === undefined) continue
      const run = texts.map((text) => before.push({ role, text, pointer: conversationPointer }) - 1)
      // Negative for now: the final indexes are known once all earlier texts are counted.
      runs.push([...run, ...now.map((index) => -1 - index)])
    }
    if (runs.length === 0) return chat
    const shift = before.length
    const place = (index: number) => (index < 0 ? shift - 1 - index : index)
    const joined = chat.joined.map((run) => run.map((index) => index + shift))
    return {
      ...chat,
      parts: [...before, ...chat.parts],
      joined: [...joined, ...runs.map((run) => run.map(place))]
    }
  }

  /** Takes an event that went on under a permit. */
  add({ parts }: ChatRequest): void {
    for (const part of parts) {
      const { role, text, pointer } = part
      if (pointer === conversationPointer || !roles.includes(role) || !isSpoken(part, role)) continue
      this.#texts.set(role, trim([...(this.#texts.get(role) ?? []), text]))
    }
  }
}

function isSpoken({ role, pointer, isKey }: ChatPart, wanted: Role): boolean {
  return role === wanted && isKey !== true && spoken.test(pointer)
}

function trim(texts: readonly string[]): string[] {
  const kept: string[] = []
  let room = maxUnits
  for (const text of texts.slice(-maxTexts).reverse()) {
    if (room === 0) break
    const end = text.slice(-room)
    kept.unshift(end)
    room -= end.length
  }
  return kept
}
