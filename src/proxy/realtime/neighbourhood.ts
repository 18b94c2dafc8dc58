/** The texts of an event together with those of the conversation that a model reads before and behind them. */
import type { ChatPart, ChatRequest, Role } from '../../base/chat.js'
import { Turns } from '../../dialects/turns.js'

/** Where parts of this conversation point: they stand in no event. */
export const conversationPointer = 'conversation'

/** Leaves that hold spoken or written words, not names. */
const words = /(?:\/(?:text|transcript|refusal|output|arguments|instructions)|#transcript)$/

/** A stretch of text in the order of the conversation: of the event, or of an item. */
export type Stretch = { role: Role } & ({ text: string } | { indexes: readonly number[] })

/** Puts texts of the conversation into the content of an event, and notes what is read as one. */
export class Neighbourhood {
  readonly #chat: ChatRequest
  readonly #before: ChatPart[] = []
  readonly #known = new Map<string, number>()
  readonly #runs = new Map<string, readonly number[]>()

  constructor(chat: ChatRequest) {
    this.#chat = chat
  }

  /** The event's own words below a place, as stretches of one role each. */
  own(prefix: string): Stretch[] {
    const { parts } = this.#chat
    const found: { role: Role; indexes: number[] }[] = []
    for (const [index, part] of parts.entries()) {
      if (!isWords(part, prefix)) continue
      const last = found.at(-1)
      if (last?.role === part.role) last.indexes.push(~index)
      else found.push({ role: part.role, indexes: [~index] })
    }
    return found
  }

  /** Joins texts as a chat's messages are joined that stand in this order. */
  join(stretches: readonly Stretch[]): void {
    const parts: ChatPart[] = []
    const turns = new Turns({ parts, join: (run) => this.#add(run) })
    let said = ''
    for (const [i, stretch] of stretches.entries()) {
      const { role } = stretch
      if ('indexes' in stretch) {
        turns.add(role, stretch.indexes)
        continue
      }
      // What one speaker says in a row is one text.
      said += stretch.text
      const next = stretches[i + 1]
      if (next !== undefined && !('indexes' in next) && next.role === role) continue
      turns.add(role, [this.#place(role, said)])
      said = ''
    }
    turns.end()
  }

  #place(role: Role, text: string): number {
    const id = `${role}\n${text}`
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const index = this.#before.push({ role, text, pointer: conversationPointer }) - 1
    this.#known.set(id, index)
    return index
  }

  #add(run: readonly number[]): void {
    // The event's own reader has joined what is its own alone.
    if (run.length > 0 && run.some((index) => index >= 0)) this.#runs.set(run.join(), [...run])
  }

  chat(): ChatRequest {
    if (this.#before.length === 0) return this.#chat
    // A session's turn begins behind what another has said: the words of earlier items are none of this one.
    const before: ChatPart[] = [...this.#before, { role: 'system', text: '\n', pointer: conversationPointer }]
    const place = (index: number) => (index < 0 ? before.length + ~index : index)
    const runs = [...this.#runs.values()].filter((run) => run.length > 1)
    return {
      ...this.#chat,
      parts: [...before, ...this.#chat.parts],
      joined: [
        ...this.#chat.joined.map((run) => run.map((index) => index + before.length)),
        ...runs.map((run) => run.map(place))
      ]
    }
  }
}

function isWords({ pointer, isKey, isDecoded }: ChatPart, prefix: string): boolean {
  return isKey !== true && isDecoded !== true && pointer.startsWith(prefix) && words.test(pointer)
}

/** The event's own words below a place. */
export function ownParts({ parts }: ChatRequest, prefix: string): ChatPart[] {
  return parts.filter((part) => isWords(part, prefix))
}
