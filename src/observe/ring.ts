/** Counts over time in bounded memory: rows of one width, each for one step of wall time; the newest overwrite the oldest. */
export class Ring {
  readonly stepMs: number
  readonly slots: number
  readonly #width: number
  readonly #counts: Float64Array
  /** Which step each slot holds, as the number of steps since the epoch; 0: none yet. */
  readonly #steps: Float64Array

  constructor(options: { stepMs: number; slots: number; width: number }) {
    this.stepMs = options.stepMs
    this.slots = options.slots
    this.#width = options.width
    this.#counts = new Float64Array(options.slots * options.width)
    this.#steps = new Float64Array(options.slots)
  }

  /** @param at wall time, ms */
  add(at: number, counts: Float64Array): void {
    const step = Math.floor(at / this.stepMs)
    const slot = step % this.slots
    const offset = slot * this.#width
    if (this.#steps[slot] !== step) {
      // A clock that was set back must not wipe what is newer.
      if (step < this.#steps[slot]!) return
      this.#steps[slot] = step
      this.#counts.fill(0, offset, offset + this.#width)
    }
    for (let i = 0; i < this.#width; i++) this.#counts[offset + i]! += counts[i]!
  }

  /** The sums of the steps that begin in `from` (inclusive) to `to` (exclusive), ms. */
  sum(from: number, to: number): Float64Array {
    const total = new Float64Array(this.#width)
    const first = Math.ceil(from / this.stepMs)
    const last = Math.min(Math.ceil(to / this.stepMs), first + this.slots)
    for (let step = first; step < last; step++) {
      const slot = step % this.slots
      if (this.#steps[slot] !== step) continue
      const offset = slot * this.#width
      for (let i = 0; i < this.#width; i++) total[i]! += this.#counts[offset + i]!
    }
    return total
  }
}
