/**
 * Turns of the event loop for work that takes milliseconds of it: to read, or to write, a large body, or to look at much
 * that a stream holds. One piece in a turn, and
 * callers in turns, so that whatever else there is comes between two of them, however many large bodies one caller sends.
 */
import { FairQueue } from '../base/fair-queue.js'

/** Bytes from which on a body waits for its turn. What is smaller is read in less than the loop takes to come round. */
export const largeBody = 65_536

export class LargeTurns {
  readonly #waiting = new FairQueue<() => void>()
  #isDue = false

  /**
   * What follows in the same turn is the piece of work.
   * @param whose names the caller
   * @param size of the piece: bytes of a body, UTF-16 units of a look
   * @param least what is smaller does not wait
   * @returns undefined where nothing has to be waited for
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
    // Two turns: what has just come is taken in the first, and answered before the next piece begins.
    setImmediate(() => setImmediate(this.#next))
  }

  readonly #next = (): void => {
    this.#isDue = false
    const begin = this.#waiting.shift()
    if (this.#waiting.length > 0) this.#due()
    begin?.()
  }
}

/** Of this thread: every edge's bodies are read on the one event loop. */
export const largeTurns = new LargeTurns()
