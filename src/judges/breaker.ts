/**
 * Leaves a judge alone that keeps failing: after so many failures in a row it is not asked for a while, then one call is
 * let through to see. What the text, and not the judge, is to blame for is told by `release` and counts for nothing.
 */
import type { Clock } from '../base/clock.js'

export type BreakerState = 'closed' | 'half_open' | 'open'

export interface BreakerOptions {
  clock: Pick<Clock, 'monotonic'>
  /** In a row. */
  failures: number
  openMs: number
  changed?: (state: BreakerState) => void
}

export class Breaker {
  #state: BreakerState = 'closed'
  #failures = 0
  #openedAt = 0
  #probing = false
  readonly #options: BreakerOptions

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  get state(): BreakerState {
    return this.#state
  }

  /** Whether a call may be made; each that may ends in one of `succeed`, `fail` and `release`. */
  admit(): boolean {
    if (this.#state === 'closed') return true
    if (this.#state === 'open') {
      if (this.#options.clock.monotonic() - this.#openedAt < this.#options.openMs) return false
      this.#become('half_open')
    }
    if (this.#probing) return false
    this.#probing = true
    return true
  }

  succeed(): void {
    this.#probing = false
    this.#failures = 0
    this.#become('closed')
  }

  fail(): void {
    this.#probing = false
    this.#failures++
    if (this.#state === 'closed' && this.#failures < this.#options.failures) return
    this.#openedAt = this.#options.clock.monotonic()
    this.#become('open')
  }

  release(): void {
    this.#probing = false
  }

  #become(state: BreakerState): void {
    if (state === this.#state) return
    this.#state = state
    this.#options.changed?.(state)
  }
}
