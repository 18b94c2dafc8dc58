/** What a user's text quotes, for the rules that read it. */
import type { ChatPart } from '../../base/chat.js'
import type { Span } from '../../text/fold.js'
import { quotationsIn } from '../../text/quoted.js'

export class Quotations {
  /** Whether a rule wants them read. */
  isWanted: boolean
  readonly #part: ChatPart
  #stretches: readonly Span[] | undefined

  constructor(part: ChatPart, isWanted: boolean) {
    this.#part = part
    this.isWanted = isWanted
  }

  /** Found on first use; all of a file. */
  get stretches(): readonly Span[] {
    const { text, file } = this.#part
    this.#stretches ??= file === undefined ? quotationsIn(text) : [{ start: 0, end: text.length }]
    return this.#stretches
  }
}

/** @returns undefined for words that quote nothing: of others than users, keys, and what is said in a sound */
export function quotationsOf(part: ChatPart, isThorough: boolean): Quotations | undefined {
  const { role, isKey, file } = part
  return role === 'user' && isKey !== true && file !== 'heard' ? new Quotations(part, isThorough) : undefined
}
