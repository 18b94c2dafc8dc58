/** Limits how much goes on at once: connections to an upstream, texts in threads, sounds that are transcribed. */
import { FairQueue } from './fair-queue.js'

/** Returns a place; further calls do nothing. */
export type LetGo = () => void

/** Ends a wait early: `reason` is set once it is cancelled. */
export interface Cancelling {
  readonly reason: unknown
  /** @returns what takes the callback away again */
  onCancel(callback: (reason: unknown) => void): () => void
}

export interface PlacesOptions {
  /** Taken at once. */
  most: number
  /** Longest wait for one, ms. Default: no bound. */
  waitMs?: number
  /** Whether one caller more may not wait. Default: any number may. */
  isFull?(waiting: FairQueue<unknown>, whose: string): boolean
  /** What a caller is refused with: `full` at once, `late` after the longest wait. */
  refusal(why: 'full' | 'late'): Error
}

/**
 * A limited number of places. Where all are taken, callers take turns, so that one with many waiting requests gets no more
 * places than another.
 */
export class Places {
  readonly #options: PlacesOptions
  readonly #waiting = new FairQueue<() => void>()
  #taken = 0

  constructor(options: PlacesOptions) {
    this.#options = options
  }

  /** How many are in use. */
  get taken(): number {
    return this.#taken
  }

  /**
   * Returns at once where a place is free. Rejects with the reason of the cancel, or with the refusal.
   * @param whose names the caller
   */
  take(whose: string, cancel?: Cancelling): LetGo | Promise<LetGo> {
    const { most, waitMs, isFull, refusal } = this.#options
    if (cancel?.reason !== undefined) return Promise.reject(cancel.reason)
    if (this.#taken < most) {
      this.#taken++
      return this.#place()
    }
    if (isFull?.(this.#waiting, whose) === true) return Promise.reject(refusal('full'))
    return new Promise((resolve, reject) => {
      const settled = () => {
        clearTimeout(timer)
        forget?.()
      }
      const begin = () => {
        settled()
        resolve(this.#place())
      }
      const leave = (reason: unknown) => {
        settled()
        this.#waiting.remove(whose, begin)
        reject(reason)
      }
      const forget = cancel?.onCancel(leave)
      const timer = waitMs === undefined ? undefined : setTimeout(() => leave(refusal('late')), waitMs)
      this.#waiting.push(whose, begin)
    })
  }

  #place(): LetGo {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      const next = this.#waiting.shift()
      if (next === undefined) this.#taken--
      else next()
    }
  }
}
