/**
 * Keeps the event loop to short texts while several callers are there. A request takes some eight turns of the loop, and
 * each of them may wait for a piece of another caller's judging: so a caller that sends long texts one after the other
 * would make every other caller's request many times as dear. Beyond its share of the loop, its texts are judged in a
 * thread, and its short ones come after those of the others. Counted in UTF-16 units, since on a busy machine the time
 * says how busy the others are.
 */
import type { Clock } from '../../base/clock.js'

/** Units of one caller that the loop forgets in each ms. Of texts made to be slow it judges five times as many. */
const perMs = 64
/** Units from which a caller is beyond its share: of texts made to be slow they take 25 ms. */
const beyond = 8_192
/** Units from which a caller's texts wait even for a thread that has yet to start, which takes seconds. */
const farBeyond = 32_768
/** Most units that are remembered of a caller: after a second's rest nothing is held against it. */
const mostUnits = 65_536
const forgottenMs = mostUnits / perMs
/** How long a caller that asked counts as there, ms. */
const thereMs = 10_000
/** Units up to which a text of a caller beyond its share is judged on the loop: to pass it on would cost as much. */
export const shortUnits = 2_048

interface Used {
  units: number
  at: number
}

export class LoopShare {
  readonly #clock: Clock
  /** By caller, in two generations: who is in neither has used nothing that still counts. */
  #young = new Map<string, Used>()
  #old = new Map<string, Used>()
  #turnsAt = 0
  /** Texts of each caller that are in a thread or wait for one. */
  readonly #apart = new Map<string, number>()
  #last: { whose: string; at: number } | undefined
  /** When a caller other than the last one asked last. */
  #anotherAt = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Notes that a caller asks for a verdict. */
  asks(whose: string): void {
    const at = this.#clock.monotonic()
    if (this.#last !== undefined && this.#last.whose !== whose) this.#anotherAt = this.#last.at
    this.#last = { whose, at }
  }

  /** Notes what the loop judges for a caller. */
  uses(whose: string, units: number): void {
    const at = this.#clock.monotonic()
    const used = Math.min(mostUnits, this.#usedBy(whose, at) + units)
    if (at >= this.#turnsAt) {
      this.#old = this.#young
      this.#young = new Map()
      this.#turnsAt = at + forgottenMs
    }
    this.#young.set(whose, { units: used, at })
  }

  /** Whether a caller has used more of the loop than its share, or has texts in threads. */
  isBeyond(whose: string): boolean {
    return this.#apart.has(whose) || this.#usedBy(whose, this.#clock.monotonic()) > beyond
  }

  /**
   * Whether a caller's longer texts leave the loop to the others that are there.
   * @param isReady whether a thread could judge them at once
   */
  yields(whose: string, isReady: () => boolean): boolean {
    if (!this.isBeyond(whose)) return false
    const now = this.#clock.monotonic()
    const { whose: last, at } = this.#last ?? { whose, at: 0 }
    if (now - (last === whose ? this.#anotherAt : at) >= thereMs) return false
    return isReady() || this.#usedBy(whose, now) > farBeyond
  }

  /** Notes that a text of a caller goes to a thread. @returns what notes its end */
  apart(whose: string): () => void {
    this.#apart.set(whose, (this.#apart.get(whose) ?? 0) + 1)
    return () => {
      const left = this.#apart.get(whose)! - 1
      if (left === 0) this.#apart.delete(whose)
      else this.#apart.set(whose, left)
    }
  }

  #usedBy(whose: string, now: number): number {
    const used = this.#young.get(whose) ?? this.#old.get(whose)
    return used === undefined ? 0 : Math.max(0, used.units - (now - used.at) * perMs)
  }
}
