/** Notes which texts of a conversation a model reads as one, so that a payload split over them is judged joined. */
import type { Role } from '../base/chat.js'
import { append, type Collector } from './walk.js'

export class Turns {
  readonly #out: Pick<Collector, 'join' | 'parts'>
  readonly #all: number[] = []
  readonly #ofUser: number[] = []
  /** Consecutive turns of users and assistants. */
  #talk: number[] = []
  #isTalkMixed = false
  #run: number[] = []
  #role: Role | undefined
  #isMixed = false

  constructor(out: Pick<Collector, 'join' | 'parts'>) {
    this.#out = out
  }

  /** Joins the texts of one turn; turns of one role that follow each other are joined as well. */
  add(role: Role, indexes: readonly number[]): void {
    this.#out.join(indexes)
    if (role !== this.#role) {
      this.#out.join(this.#run)
      this.#run = []
      this.#isMixed ||= this.#role !== undefined
      if (isTalker(role) && isTalker(this.#role)) this.#isTalkMixed = true
      else this.#endTalk()
      this.#role = role
    }
    append(this.#run, indexes)
    append(this.#all, indexes)
    if (isTalker(role)) append(this.#talk, indexes)
    if (role === 'user') append(this.#ofUser, indexes)
  }

  /** Like `add`, for a turn with the words of several roles, such as a user's with tool results. */
  addMixed(role: Role, indexes: readonly number[]): void {
    this.#out.join(indexes.filter((index) => this.#roleOf(index) === role))
    let from = 0
    for (let at = 0; at < indexes.length; at++) {
      const own = this.#roleOf(indexes[at]!)
      if (at + 1 < indexes.length && this.#roleOf(indexes[at + 1]!) === own) continue
      if (own !== undefined) this.add(own, indexes.slice(from, at + 1))
      from = at + 1
    }
  }

  #roleOf(index: number): Role | undefined {
    return this.#out.parts[index]?.role
  }

  /** Dialogue of users and assistants is read as a user's words; it is not joined with an operator's or a tool's. */
  #endTalk(): void {
    if (this.#isTalkMixed) this.#out.join(this.#talk)
    this.#talk = []
    this.#isTalkMixed = false
  }

  /** Joins the last run, all that the user said, and all turns: a model reads one role's words right after another's. */
  end(): void {
    this.#out.join(this.#run)
    this.#endTalk()
    this.#out.join(this.#ofUser)
    if (this.#isMixed) this.#out.join(this.#all)
  }
}

function isTalker(role: Role | undefined): boolean {
  return role === 'user' || role === 'assistant'
}
