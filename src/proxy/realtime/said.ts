/**
 * What a session has let through of the words that are not the user's: instructions, prefill, results of tools. A model
 * reads those of one role as one, over events, so they are judged joined. What users say is joined by the evaluator's own
 * session.
 */
import type { ChatPart, ChatRequest, Role } from '../../base/chat.js'

const roles: readonly Role[] = ['system', 'assistant', 'tool']
/** Texts of one role, and UTF-16 units of all of them. */
const maxTexts = 8
const maxUnits = 2000

/** Leaves that are said, not names of something. */
const spoken = /\/(?:text|transcript|refusal|output|arguments|instructions)$/

export class Said {
  readonly #texts = new Map<Role, string[]>()

  /** The event with what was said before it, which has no pointer into it. */
  join(chat: ChatRequest): ChatRequest {
    const before: ChatPart[] = []
    const runs: number[][] = []
    for (const role of roles) {
      const now = chat.parts.flatMap((part, index) => (isSpoken(part, role) ? [index] : []))
      const texts = this.#texts.get(role)
      if (now.length === 0 || texts === undefined) continue
      const run = texts.map((text) => before.push({ role, text, pointer: 'conversation' }) - 1)
      // Their places are known when all that comes before them is.
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
      if (pointer === 'conversation' || !roles.includes(role) || !isSpoken(part, role)) continue
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
