/** The time of the readers that each key has used lately, by which the pool decides whose file is next. */

/** How long a use counts, ms: from one to two of these. */
const countedMs = 60_000

export class ReaderTime {
  /** Sums of finished readings, in ms by key, of this period and of the one before. */
  #now = new Map<string, number>()
  #before = new Map<string, number>()
  #turnsAt = Number.NEGATIVE_INFINITY
  readonly #underWay = new Set<{ whose: string; began: number }>()

  /** Called when a file's reading begins. @returns what to call when it ends */
  begin(whose: string): () => void {
    const reading = { whose, began: performance.now() }
    this.#underWay.add(reading)
    return () => {
      this.#underWay.delete(reading)
      const now = performance.now()
      this.#turn(now)
      this.#now.set(whose, (this.#now.get(whose) ?? 0) + now - reading.began)
    }
  }

  /** Milliseconds, with what is under way. */
  usedBy(whose: string): number {
    const now = performance.now()
    this.#turn(now)
    let used = (this.#now.get(whose) ?? 0) + (this.#before.get(whose) ?? 0)
    for (const reading of this.#underWay) if (reading.whose === whose) used += now - reading.began
    return used
  }

  #turn(now: number): void {
    if (now < this.#turnsAt) return
    this.#before = now < this.#turnsAt + countedMs ? this.#now : new Map()
    this.#now = new Map()
    this.#turnsAt = now + countedMs
  }
}
