/**
 * The upstream's half of a session. Each response is judged as a streamed answer of its own, in the same window. Events
 * that belong to no response are judged singly and leave at once. The upstream's transcripts of the user are judged as
 * the user's words. A withheld response is cancelled on the upstream, and its later events are dropped.
 */
import { setTimeout } from 'node:timers/promises'
import type { JsonObject } from '../../base/chat.js'
import { Fault } from '../../base/errors.js'
import { isObject } from '../../dialects/rewrite.js'
import { refuseCredential } from '../answer/read.js'
import { ClientGone, type Exchange } from '../exchange.js'
import { judgeSingle, Lane, sendLines } from './lane.js'
import type { Session } from './session.js'
import { Transcripts, transcriptPrefix } from './transcripts.js'

/** Responses at once. */
const maxLanes = 16
/** How long a further response waits for one of them to end, ms. */
const roomMs = 2000
/** Names of responses and items that are remembered. */
const maxRemembered = 4096
/** Name of a response to which the upstream gives none. */
const unnamed = 'unnamed'
/** The lane of texts in pieces that belong to no response. */
const noResponse = ''

export class UpstreamHalf {
  readonly #session: Session
  readonly #lanes = new Map<string, Lane>()
  readonly #blocked = new Set<string>()
  /** Ended responses: later events of an upstream do not belong to them. */
  readonly #finished = new Set<string>()
  readonly #transcripts: Transcripts
  #hasRoom: (() => void) | undefined

  constructor(session: Session) {
    this.#session = session
    this.#transcripts = new Transcripts(session, (itemId) => remember(this.#blocked, [itemId]))
  }

  get isAnswering(): boolean {
    return [...this.#lanes.keys()].some((id) => id !== noResponse)
  }

  /** Whether events wait for the client to read them. */
  get isBusy(): boolean {
    return [...this.#lanes.values()].some((lane) => lane.isBusy)
  }

  close(): void {
    for (const lane of this.#lanes.values()) lane.close()
  }

  async run(): Promise<void> {
    const session = this.#session
    const { upstream } = session
    for (let frame = await upstream.next(); frame !== undefined; frame = await upstream.next()) {
      if (session.isEnded || !(await session.checkKey())) return
      if (frame === 'binary') throw new Fault('upstream_error', { internal: 'a binary frame' })
      const text = frame.toString()
      const event = read(text)
      refuseCredential(session.credential, event)
      await this.#take(event, text)
      session.heard(this.isAnswering)
    }
    if (session.isEnded) return
    const { closeCode } = upstream
    if (!this.isAnswering && (closeCode === 1000 || closeCode === 1001)) session.end('upstream', closeCode)
    else throw new Fault('upstream_error', { internal: `the upstream closed the session with ${closeCode}` })
  }

  async #take(event: JsonObject, text: string): Promise<void> {
    const type = String(event.type)
    const { response, item, error } = event
    this.#session.conversation.told(event)
    const isRenamed = this.#session.ears?.told(event) === true
    // An error about a command of the gateway itself, on which the upstream had nothing to do.
    if (type === 'error' && isObject(error) && this.#session.isOwn(error.event_id)) return
    const responseId = idOf(event.response_id) ?? (isObject(response) ? idOf(response.id) : undefined)
    const itemId = idOf(event.item_id) ?? (isObject(item) ? idOf(item.id) : undefined)
    // A reused name belongs to a new response.
    if (type === 'response.created' && responseId !== undefined) this.#finished.delete(responseId)
    if (this.#isDropped(type, responseId, itemId)) return
    if (type.startsWith(transcriptPrefix)) return this.#transcripts.take(event, type, text)
    // One line, since unchanged events are separated at line ends.
    const line = isRenamed || text.includes('\n') ? JSON.stringify(event) : text
    if (this.#lanes.size >= maxLanes) await this.#room()
    const lane = this.#laneFor(type, responseId, itemId)
    if (lane === undefined) return this.#single(line)
    if (itemId !== undefined) lane.items.add(itemId)
    await lane.push({ type, data: line })
  }

  #laneFor(type: string, responseId: string | undefined, itemId: string | undefined): Lane | undefined {
    if (type.startsWith('response.')) return this.#open(responseId ?? unnamed)
    if (itemId !== undefined) for (const lane of this.#lanes.values()) if (lane.items.has(itemId)) return lane
    return type.endsWith('.delta') ? this.#open(noResponse) : undefined
  }

  /** Ended responses may still be on their way to the client. */
  async #room(): Promise<void> {
    const waiting = new AbortController()
    const late = setTimeout(roomMs, undefined, { signal: waiting.signal, ref: false }).catch(() => undefined)
    await Promise.race([new Promise<void>((resolve) => (this.#hasRoom = resolve)), late])
    waiting.abort()
  }

  #open(id: string): Lane {
    const known = this.#lanes.get(id)
    if (known !== undefined) return known
    if (this.#lanes.size > maxLanes) throw new Fault('upstream_error', { internal: 'too many responses at once' })
    const lane = new Lane(this.#session, this.#exchange(), id === noResponse ? 'never' : 'response.done')
    this.#lanes.set(id, lane)
    lane.run().then(
      () => this.#ended(id, lane),
      (error: unknown) => {
        // A client that left or was disconnected gets no further event.
        if (!(error instanceof ClientGone)) this.#session.fail(error)
      }
    )
    return lane
  }

  #ended(id: string, lane: Lane): void {
    this.#lanes.delete(id)
    this.#hasRoom?.()
    if (id !== unnamed) remember(this.#finished, [id])
    this.#session.conversation.answered(lane.items, !lane.shape.isFiltered)
    if (lane.shape.isFiltered && id !== noResponse) {
      remember(this.#blocked, [id, ...lane.items])
      this.#withdraw(id, lane).catch((error: unknown) => this.#session.fail(error))
    }
    this.#session.answered()
  }

  /** The model must neither continue a withheld response nor build on it. */
  async #withdraw(id: string, { items }: Lane): Promise<void> {
    await this.#session.command({ type: 'response.cancel', response_id: id })
    for (const item_id of items) await this.#session.command({ type: 'conversation.item.delete', item_id })
  }

  #exchange(): Exchange {
    const { deps, inbound, route } = this.#session
    const chat = { stream: true, model: undefined, metadata: undefined, session: undefined }
    return deps.requests.open(inbound, route, { ...chat, parts: [], joined: [], media: [] }, { body: {} })
  }

  async #single(line: string): Promise<void> {
    const { deps, nextId } = this.#session
    await sendLines(this.#session, await judgeSingle(deps, nextId, this.#exchange(), line))
  }

  /** Whether an event belongs to a withheld or ended response or item. */
  #isDropped(type: string, responseId: string | undefined, itemId: string | undefined): boolean {
    if (responseId !== undefined) {
      if (this.#blocked.has(responseId)) return true
      if (this.#finished.has(responseId) && type.startsWith('response.')) return true
    }
    return itemId !== undefined && this.#blocked.has(itemId) && type !== 'conversation.item.deleted'
  }
}

function remember(names: Set<string>, added: readonly string[]): void {
  for (const name of added) names.add(name)
  for (const name of names) {
    if (names.size <= maxRemembered) break
    names.delete(name)
  }
}

function idOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A lenient parse, for routing only: the judging stage parses strictly. */
function read(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // Told below.
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Fault('upstream_error', { internal: 'an event is not an object' })
  }
  return value as JsonObject
}
