/**
 * The conversation of a session in the order in which the model reads it: each new item is judged with its neighbours
 * there, not with what came before it on the wire. Only the ends of texts are kept, and only a bounded stretch around an
 * event is read again, so that what a client sends costs time in proportion to its length.
 */
import type { ChatRequest, Json, JsonObject, Role } from '../../base/chat.js'
import { isObject } from '../../dialects/rewrite.js'
import { Neighbourhood, ownParts, type Stretch } from './neighbourhood.js'

/** UTF-16 units that are read again on each side of an event, and of the instructions: longer than any phrase. */
const reach = 1024
/** UTF-16 units that all items may hold, with a fixed cost for each; beyond, the oldest are forgotten. */
const mostUnits = 128 * 1024
const itemUnits = 128
/** Instructions that the upstream has not confirmed yet. */
const mostInstructions = 4

interface Item {
  /** Undefined until the upstream names it. */
  id: string | undefined
  /** The client's name for the event that made it. */
  eventId: string | undefined
  role: Role
  head: string
  tail: string
  /** False where the upstream may refuse it, or delete it: texts are read with it and without it. */
  isSure: boolean
  /** Whether the client has deleted it. */
  isLeaving?: boolean
  /** The text of an answer that is not judged yet. */
  answer?: string
}

export class Conversation {
  readonly #items: Item[] = []
  #units = 0
  /** Whether older items than the first one stand before it. */
  #hasForgotten = false
  /** Whether an item has gone since the last response, so that others have come together. */
  #hasGap = false
  /** The ends of the instructions in force: the confirmed ones, then those on their way. */
  #instructions: string[] = []

  /** The event with the texts that the model reads before and after its own. */
  around(event: JsonObject, chat: ChatRequest): ChatRequest {
    const reading = new Neighbourhood(chat)
    switch (event.type) {
      case 'conversation.item.create':
        this.#aroundItem(event, reading)
        break
      case 'conversation.item.delete': {
        const at = this.#indexOf(event.item_id)
        if (at !== -1) this.#atPlace(at, at + 1, [], reading)
        break
      }
      case 'session.update':
        this.#aroundInstructions(reading.own('/session/instructions'), reading)
        break
      case 'response.create':
        this.#aroundResponse(event, reading)
    }
    return reading.chat()
  }

  #aroundItem({ previous_item_id: previous, item }: JsonObject, reading: Neighbourhood): void {
    if (!isObject(item)) return
    const own = reading.own('/item/')
    for (const at of this.#placesAfter(previous)) this.#atPlace(at, at, own, reading)
    if (own.length > 0) for (const text of this.#instructions) reading.join([{ role: 'system', text }, ...own])
  }

  /** Behind an unknown item is the end, or where an upstream that remembers a forgotten one puts it. */
  #placesAfter(previous: Json | undefined): number[] {
    const end = this.#items.length
    if (previous === undefined || previous === null) return [end]
    if (previous === 'root') return [0]
    const at = this.#indexOf(previous)
    if (at !== -1) return [at + 1]
    return this.#hasForgotten && end > 0 ? [end, 0] : [end]
  }

  /** Reads what stands before one place, the event's own, and what stands from another place on. */
  #atPlace(before: number, after: number, own: readonly Stretch[], reading: Neighbourhood): void {
    const instructions = this.#instructions.map((text): Stretch => ({ role: 'system', text }))
    const read = (keeps: (item: Item) => boolean) => {
      const left = this.#before(before, keeps)
      const right = this.#from(after, keeps)
      if (own.length > 0 || right.length > 0) reading.join([...instructions, ...left, ...own, ...right])
      return left.concat(right)
    }
    const all = read(() => true)
    // What the upstream refuses stands between no two texts.
    if (all.some(({ isSure }) => !isSure)) read((item) => item.isSure)
  }

  #aroundInstructions(own: readonly Stretch[], reading: Neighbourhood): void {
    if (own.length === 0) return
    reading.join([...own, ...this.#from(0, () => true)])
    reading.join([...this.#before(this.#items.length, () => true), ...own])
  }

  #aroundResponse({ response }: JsonObject, reading: Neighbourhood): void {
    const own = reading.own('/response/instructions')
    const input = isObject(response) ? response.input : undefined
    const first: readonly Stretch[] =
      own.length > 0 ? own : this.#instructions.map((text): Stretch => ({ role: 'system', text }))
    if (Array.isArray(input)) {
      const given = input.flatMap((item, i): readonly Stretch[] => {
        const known = isObject(item) && item.type === 'item_reference' ? this.#items[this.#indexOf(item.id)] : undefined
        return known === undefined ? reading.own(`/response/input/${i}/`) : bothEnds(known)
      })
      reading.join([...first, ...given])
      if (own.length > 0) reading.join([...given, ...own])
      return
    }
    this.#aroundInstructions(own, reading)
    // What an item kept apart that has gone is read as one from now on.
    if (this.#hasGap) reading.join([...first, ...this.#before(this.#items.length, (item) => item.isSure)])
  }

  #before(index: number, keeps: (item: Item) => boolean): (Item & { text: string })[] {
    const found: (Item & { text: string })[] = []
    let room = reach
    for (let i = index - 1; i >= 0 && room > 0; i--) {
      const item = this.#items[i]!
      if (item.tail === '' || !keeps(item)) continue
      const text = item.tail.slice(-room)
      room -= text.length
      found.unshift({ ...item, text })
    }
    return found
  }

  #from(index: number, keeps: (item: Item) => boolean): (Item & { text: string })[] {
    const found: (Item & { text: string })[] = []
    let room = reach
    for (let i = index; i < this.#items.length && room > 0; i++) {
      const item = this.#items[i]!
      if (item.head === '' || !keeps(item)) continue
      const text = item.head.slice(0, room)
      room -= text.length
      found.push({ ...item, text })
    }
    return found
  }

  /**
   * Takes an event that goes on to the upstream.
   * @param isPermitted false where it was let through against its verdict: its text would be found again in every event
   */
  sent(event: JsonObject, chat: ChatRequest, isPermitted: boolean): void {
    const textOf = (prefix: string) => {
      const own = ownParts(chat, prefix)
      return { role: own[0]?.role ?? 'user', text: isPermitted ? own.map(({ text }) => text).join('') : '' }
    }
    const { item } = event
    if (event.type === 'response.create') this.#hasGap = false
    if (event.type === 'conversation.item.create' && isObject(item)) {
      const { role, text } = textOf('/item/')
      const at = this.#placesAfter(event.previous_item_id)[0]!
      const id = typeof item.id === 'string' ? item.id : undefined
      const eventId = typeof event.event_id === 'string' ? event.event_id : undefined
      // A name that is taken makes the upstream refuse the item.
      const isSure =
        isPlainEvent(event) && isPlainMessage(item) && this.#isKnown(event.previous_item_id) && this.#indexOf(id) === -1
      this.#insert(at, { id: this.#indexOf(id) === -1 ? id : undefined, eventId, role, ...endsOf(text), isSure })
    } else if (event.type === 'conversation.item.delete') {
      // It stands there until the upstream says otherwise, which may refuse the event.
      const deleted = this.#items[this.#indexOf(event.item_id)]
      if (deleted !== undefined) Object.assign(deleted, { isSure: false, isLeaving: true })
    } else if (event.type === 'session.update' && isObject(event.session)) {
      const { instructions } = event.session
      if (typeof instructions !== 'string') return
      this.#instructions.push(textOf('/session/instructions').text.slice(-reach))
      this.#instructions.splice(0, this.#instructions.length - mostInstructions)
    }
  }

  /** Takes what the upstream says of the conversation: its own items, names, refusals and deletions. */
  told(event: JsonObject): void {
    const { type, item, session, error } = event
    const id = isObject(item) ? item.id : event.item_id
    if (type === 'error' && isObject(error) && typeof error.event_id === 'string') {
      this.#remove(this.#items.findIndex((each) => each.eventId === error.event_id))
      return
    }
    if (type === 'session.updated' && isObject(session) && typeof session.instructions === 'string') {
      this.#confirm(session.instructions.slice(-reach))
      return
    }
    if (typeof id !== 'string' || typeof type !== 'string') return
    if (type === 'conversation.item.deleted') this.#remove(this.#indexOf(id))
    else if (type === 'conversation.item.truncated') this.#change(id, '')
    else if (addings.test(type)) this.#added(id, item, event.previous_item_id)
  }

  /** Takes the end of an answer: what was withheld of it the upstream is told to delete. */
  answered(ids: Iterable<string>, isPermitted: boolean): void {
    for (const id of ids) {
      const item = this.#items[this.#indexOf(id)]
      if (item?.answer !== undefined) this.#change(id, isPermitted ? item.answer : '')
    }
  }

  /** Takes the words of a spoken item, once they are judged. */
  heard(id: Json | undefined, text: Json | undefined): void {
    if (typeof id === 'string' && typeof text === 'string') this.#change(id, text)
  }

  /** Later instructions are still on their way. */
  #confirm(text: string): void {
    const at = this.#instructions.indexOf(text)
    this.#instructions = [text, ...(at === -1 ? this.#instructions : this.#instructions.slice(at + 1))]
    if (this.#instructions.length > mostInstructions) this.#instructions.splice(1, 1)
  }

  #added(id: string, item: Json | undefined, previous: Json | undefined): void {
    const { role, text } = wordsOf(item)
    const ends = endsOf(text)
    let known = this.#items[this.#indexOf(id)]
    known ??= this.#items.find((each) => each.id === undefined && each.head === ends.head && each.tail === ends.tail)
    if (known === undefined) {
      const at = this.#placesAfter(previous)[0]!
      this.#insert(at, { id, eventId: undefined, role, ...endsOf(''), isSure: true, answer: text })
      return
    }
    known.id = id
    known.isSure = !known.isLeaving
    if (text !== '' && known.answer !== undefined) known.answer = text
  }

  #insert(at: number, item: Item): void {
    this.#items.splice(at, 0, item)
    this.#units += unitsOf(item)
    while (this.#units > mostUnits) {
      this.#units -= unitsOf(this.#items.shift()!)
      this.#hasForgotten = true
    }
  }

  #remove(at: number): void {
    const item = this.#items[at]
    if (item === undefined) return
    this.#hasGap = true
    this.#items.splice(at, 1)
    this.#units -= unitsOf(item)
  }

  #change(id: string, text: string): void {
    const item = this.#items[this.#indexOf(id)]
    if (item === undefined) return
    this.#units -= unitsOf(item)
    Object.assign(item, endsOf(text))
    this.#units += unitsOf(item)
  }

  #indexOf(id: Json | undefined): number {
    return typeof id === 'string' ? this.#items.findIndex((item) => item.id === id) : -1
  }

  #isKnown(previous: Json | undefined): boolean {
    return previous === undefined || previous === null || previous === 'root' || this.#indexOf(previous) !== -1
  }
}

/** Events of an upstream that name an item of the conversation. */
const addings =
  /^(?:conversation\.item\.(?:created|added|done)|response\.output_item\.(?:added|done)|input_audio_buffer\.committed)$/

function bothEnds({ role, head, tail }: Item): Stretch[] {
  return head === tail ? [{ role, text: head }] : [{ role, text: `${head}\n${tail}` }]
}

function endsOf(text: string): { head: string; tail: string } {
  return text.length <= 2 * reach
    ? { head: text, tail: text }
    : { head: text.slice(0, reach), tail: text.slice(-reach) }
}

function unitsOf({ head, tail }: Item): number {
  return itemUnits + (head === tail ? head.length : head.length + tail.length)
}

const eventFields = new Set(['type', 'event_id', 'previous_item_id', 'item'])
const itemFields = new Set(['id', 'object', 'type', 'status', 'role', 'content'])
/** Most characters of an item's name in the API. */
const longestId = 32

/** Whether an upstream that refuses unknown fields takes it. */
function isPlainEvent(event: JsonObject): boolean {
  return Object.keys(event).every((name) => eventFields.has(name))
}

/** A message as the API documents it: an upstream takes it. */
function isPlainMessage(item: JsonObject): boolean {
  const { id, type, role, content } = item
  if (!Object.keys(item).every((name) => itemFields.has(name))) return false
  if (id !== undefined && (typeof id !== 'string' || id.length > longestId)) return false
  const part = { user: 'input_text', system: 'input_text', assistant: 'output_text' }[String(role)]
  return (
    type === 'message' &&
    Array.isArray(content) &&
    content.length > 0 &&
    content.every(
      (each) => isObject(each) && each.type === part && typeof each.text === 'string' && Object.keys(each).length === 2
    )
  )
}

const roles: Readonly<Record<string, Role>> = { user: 'user', system: 'system', assistant: 'assistant' }

/** The words of an item as the upstream repeats it. */
function wordsOf(item: Json | undefined): { role: Role; text: string } {
  if (!isObject(item)) return { role: 'user', text: '' }
  const said = Array.isArray(item.content) ? item.content : []
  const texts = said.map((part) => (isObject(part) ? (part.text ?? part.transcript ?? '') : ''))
  const text = [...texts, item.arguments, item.output].filter((each) => typeof each === 'string').join('')
  const role = typeof item.role === 'string' ? roles[item.role] : undefined
  return { role: role ?? (typeof item.output === 'string' ? 'tool' : 'assistant'), text }
}
