/** The open sessions of one configuration, which end before it does. */
import { Places } from '../upstream/places.js'
import type { Session } from './session.js'

/** How long an event waits for its turn, ms. */
const longestWait = 10_000

export class Sessions {
  readonly #open = new Set<Session>()
  #whenEmpty: (() => void) | undefined
  /** Long events are judged one at a time, whoever sends them: see `requests.ts`. */
  readonly turns = new Places(1, longestWait)
  isStopping = false

  add(session: Session): void {
    this.#open.add(session)
    if (this.isStopping) session.drain(0)
  }

  delete(session: Session): void {
    this.#open.delete(session)
    if (this.#open.size === 0) this.#whenEmpty?.()
  }

  /** Ends each when the answer under way in it has ended, or at the deadline; no new one begins. */
  async drain(deadlineMs: number): Promise<void> {
    this.isStopping = true
    for (const session of this.#open) session.drain(deadlineMs)
    if (this.#open.size > 0) await new Promise<void>((resolve) => (this.#whenEmpty = resolve))
  }
}
