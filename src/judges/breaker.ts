/**
 * A circuit breaker: after several failures in a row a judge is not asked for a while, then one trial call is made.
 * Failures caused by the text, not the judge, are reported by `release` and do not count.
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

  /** Whether a call may be made; each permitted call must end with `succeed`, `fail` or `release`. */
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
