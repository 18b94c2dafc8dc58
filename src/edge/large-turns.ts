/**
 * Schedules long work of the event loop: reading or writing a large body, or judging much held text of a stream. Each
 * turn runs one piece, and callers alternate, so that other work comes between two pieces however many large bodies one
 * caller sends.
 */
import { FairQueue } from '../base/fair-queue.js'

/** Bytes from which a body waits for its turn. A smaller one is read in less time than one round of the loop takes. */
export const largeBody = 65_536

export class LargeTurns {
  readonly #waiting = new FairQueue<() => void>()
  #isDue = false

  /**
   * Waits for a turn; the caller does its work in the same turn.
   * @param whose names the caller
   * @param size of the piece: bytes of a body, UTF-16 units of a look
   * @param least smaller pieces do not wait
   * @returns undefined for a piece that need not wait
   */
  take(whose: string, size: number, least = largeBody): Promise<void> | undefined {
    if (size < least) return undefined
    return new Promise((resolve) => {
      this.#waiting.push(whose, resolve)
      this.#due()
    })
  }

  #due(): void {
    if (this.#isDue) return
    this.#isDue = true
    // Two turns: requests that have just come are read in the first, and answered before the next piece begins.
    setImmediate(() => setImmediate(this.#next))
  }

  readonly #next = (): void => {
    this.#isDue = false
    const begin = this.#waiting.shift()
    if (this.#waiting.length > 0) this.#due()
    begin?.()
  }
}

/** One for this thread: all edges read their bodies on the same event loop. */
export const largeTurns = new LargeTurns()
