/**
 * A fair queue: waiting callers take turns, and each is served in its own order, so that one caller's many items do not
 * delay another's single one.
 */

interface Line<T> {
  items: T[]
  /** Index of the next. */
  next: number
}

const anyone = () => true

export class FairQueue<T> {
  /** Lines in the order of their turns. */
  readonly #lines = new Map<string, Line<T>>()
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Number of callers with waiting items. */
  get lines(): number {
    return this.#lines.size
  }

  /** Number of waiting items of one caller. */
  waiting(whose: string): number {
    const line = this.#lines.get(whose)
    return line === undefined ? 0 : line.items.length - line.next
  }

  /**
   * Whether one more item of a caller would be too many. Each may have at most a quarter, so that none can fill the
   * queue alone.
   * @param most items of all callers
   */
  isFullFor(whose: string, most: number): boolean {
    return this.#length >= most || this.waiting(whose) >= Math.max(1, Math.floor(most / 4))
  }

  /**
   * Whether one more item of a caller would be too many in a queue for `most`. A full queue still takes those who have
   * less than an even share of it: a flooding caller shuts out only itself.
   */
  isOverShare(whose: string, most: number): boolean {
    if (this.#length < most) return false
    const own = this.waiting(whose)
    return own >= most / (this.lines + (own === 0 ? 1 : 0))
  }

  /** @param whose names who waits */
  push(whose: string, item: T): void {
    const line = this.#lines.get(whose)
    if (line === undefined) this.#lines.set(whose, { items: [item], next: 0 })
    else line.items.push(item)
    this.#length++
  }

  /** @param mayGo whether it may be a caller's turn; who may not keeps the place */
  shift(mayGo: (whose: string) => boolean = anyone): T | undefined {
    for (const whose of this.#lines.keys()) if (mayGo(whose)) return this.#take(whose)
    return undefined
  }

  /** Takes the next item of the caller who has used least; among equals it is the turn of who waits longest for one. */
  shiftLeast(used: (whose: string) => number): T | undefined {
    let next: string | undefined
    let least = Number.POSITIVE_INFINITY
    for (const whose of this.#lines.keys()) {
      const its = used(whose)
      if (its >= least) continue
      next = whose
      least = its
    }
    return next === undefined ? undefined : this.#take(next)
  }

  #take(whose: string): T {
    const line = this.#lines.get(whose)!
    const item = line.items[line.next++]!
    this.#length--
    // Moved to the end of the order.
    this.#lines.delete(whose)
    if (line.next < line.items.length) {
      if (line.next === 1024) {
        line.items.splice(0, line.next)
        line.next = 0
      }
      this.#lines.set(whose, line)
    }
    return item
  }

  /** Removes an item that no longer waits. @returns whether it was there */
  remove(whose: string, item: T): boolean {
    const line = this.#lines.get(whose)
    const at = line?.items.indexOf(item, line.next) ?? -1
    if (line === undefined || at === -1) return false
    line.items.splice(at, 1)
    this.#length--
    if (line.next === line.items.length) this.#lines.delete(whose)
    return true
  }
}
