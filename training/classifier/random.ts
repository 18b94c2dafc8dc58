/** Pseudo-random numbers that are the same on every machine (mulberry32), so that training can be repeated to the byte. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }

  /** In 0 .. below - 1. */
  below(below: number): number {
    return Math.floor(this.next() * below)
  }

  shuffle(list: Int32Array): Int32Array {
    for (let i = list.length - 1; i > 0; i--) {
      const j = this.below(i + 1)
      const kept = list[i]!
      list[i] = list[j]!
      list[j] = kept
    }
    return list
  }
}
