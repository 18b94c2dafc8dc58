/** Counts over time in bounded memory: rows of one width, each for one step of wall time; the newest overwrite the oldest. */
export class Ring {
  readonly stepMs: number
  readonly slots: number
  readonly #width: number
  /** Pages of memory are taken as they are first written to: a ring that is never filled costs nothing. */
  readonly #counts: Uint32Array
  /** The step in each slot, as the number of steps since the epoch; 0: none yet. */
  readonly #steps: Float64Array
  /** How many rows went into each slot. */
  readonly #rows: Uint16Array

  constructor(options: { stepMs: number; slots: number; width: number }) {
    this.stepMs = options.stepMs
    this.slots = options.slots
    this.#width = options.width
    this.#counts = new Uint32Array(options.slots * options.width)
    this.#steps = new Float64Array(options.slots)
    this.#rows = new Uint16Array(options.slots)
  }

  /** @param at wall time, ms */
  add(at: number, counts: ArrayLike<number>): void {
    const step = Math.floor(at / this.stepMs)
    const slot = step % this.slots
    const offset = slot * this.#width
    if (this.#steps[slot] !== step) {
      // A clock that was set back must not overwrite newer steps.
      if (step < this.#steps[slot]!) return
      this.#steps[slot] = step
      this.#rows[slot] = 0
      this.#counts.fill(0, offset, offset + this.#width)
    }
    this.#rows[slot]!++
    for (let i = 0; i < this.#width; i++) this.#counts[offset + i]! += counts[i]!
  }

  /** Empties the steps that begin at `from` or later, to be filled anew. */
  clear(from: number): void {
    const first = Math.ceil(from / this.stepMs)
    for (let slot = 0; slot < this.slots; slot++) if (this.#steps[slot]! >= first) this.#steps[slot] = 0
  }

  /** The sums of the steps that begin in `from` (inclusive) to `to` (exclusive), ms. */
  sum(from: number, to: number): Float64Array {
    const total = new Float64Array(this.#width)
    for (const slot of this.#between(Math.ceil(from / this.stepMs), Math.ceil(to / this.stepMs))) {
      const offset = slot * this.#width
      for (let i = 0; i < this.#width; i++) total[i]! += this.#counts[offset + i]!
    }
    return total
  }

  /** The largest number of rows of a step that overlaps `from` to `to`, ms; 0 without data. */
  rows(from: number, to: number): number {
    let most = 0
    for (const slot of this.#between(Math.floor(from / this.stepMs), Math.ceil(to / this.stepMs))) {
      most = Math.max(most, this.#rows[slot]!)
    }
    return most
  }

  *#between(first: number, last: number): Generator<number> {
    for (let step = first; step < Math.min(last, first + this.slots); step++) {
      if (this.#steps[step % this.slots] === step) yield step % this.slots
    }
  }
}
