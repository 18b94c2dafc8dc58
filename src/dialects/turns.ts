/** Notes which texts of a conversation a model reads as one, so that a payload split over them is judged joined. */
import type { Role } from '../chat.js'
import type { Collector } from './walk.js'

export class Turns {
  readonly #out: Collector
  readonly #ofUser: number[] = []
  #run: number[] = []
  #role: Role | undefined

  constructor(out: Collector) {
    this.#out = out
  }

  /** Joins the texts of one turn; turns of one role that follow each other are joined as well. */
  add(role: Role, indexes: readonly number[]): void {
    this.#out.join(indexes)
    if (role !== this.#role) {
      this.#out.join(this.#run)
      this.#run = []
      this.#role = role
    }
    this.#run.push(...indexes)
    if (role === 'user') this.#ofUser.push(...indexes)
  }

  /** Joins the last run, and all that the user said. */
  end(): void {
    this.#out.join(this.#run)
    this.#out.join(this.#ofUser)
  }
}
