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
  /** Taken at once by one caller: with fewer than `most`, none can take all. Default: `most`. */
  mostEach?: number
  /** Longest wait for one, ms. Default: no bound. */
  waitMs?: number
  /** Whether one caller more may not wait. Default: any number may. */
  isFull?(waiting: FairQueue<unknown>, whose: string): boolean
  /** What a caller is refused with: `full` at once, `late` after the longest wait. */
  refusal(why: 'full' | 'late'): Error
}

/**
 * A limited number of places. Where all are taken, callers take turns, so that one with many waiting requests gets no more
 * places than another. With `mostEach` one caller's long work leaves places to the others.
 */
export class Places {
  readonly #options: PlacesOptions
  readonly #waiting = new FairQueue<() => void>()
  /** By caller. */
  readonly #held = new Map<string, number>()
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
    if (this.#taken < most && this.#mayTake(whose)) return this.#place(whose)
    if (isFull?.(this.#waiting, whose) === true) return Promise.reject(refusal('full'))
    return new Promise((resolve, reject) => {
      const settled = () => {
        clearTimeout(timer)
        forget?.()
      }
      const begin = () => {
        settled()
        resolve(this.#place(whose))
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

  readonly #mayTake = (whose: string): boolean => {
    const { most, mostEach = most } = this.#options
    return (this.#held.get(whose) ?? 0) < mostEach
  }

  #place(whose: string): LetGo {
    this.#taken++
    this.#held.set(whose, (this.#held.get(whose) ?? 0) + 1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#taken--
      const held = this.#held.get(whose)! - 1
      if (held === 0) this.#held.delete(whose)
      else this.#held.set(whose, held)
      this.#waiting.shift(this.#mayTake)?.()
    }
  }
}
