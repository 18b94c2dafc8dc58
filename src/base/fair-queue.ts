/** A queue of what several wait for: they take turns, and each is served in its own order, so that nobody's many hold up another's one. */

interface Line<T> {
  items: T[]
  /** Index of the next. */
  next: number
}

export class FairQueue<T> {
  /** In the order in which they have their turns. */
  readonly #lines = new Map<string, Line<T>>()
  #length = 0

  get length(): number {
    return this.#length
  }

  /** How many have something that waits. */
  get lines(): number {
    return this.#lines.size
  }

  /** How much of it waits for one. */
  waiting(whose: string): number {
    const line = this.#lines.get(whose)
    return line === undefined ? 0 : line.items.length - line.next
  }

  /**
   * Whether one more of somebody's would be too many. Nobody may have more than a quarter, or one alone could fill it.
   * @param most of all
   */
  isFullFor(whose: string, most: number): boolean {
    return this.#length >= most || this.waiting(whose) >= Math.max(1, Math.floor(most / 4))
  }

  /** @param whose names who waits */
  push(whose: string, item: T): void {
    const line = this.#lines.get(whose)
    if (line === undefined) this.#lines.set(whose, { items: [item], next: 0 })
    else line.items.push(item)
    this.#length++
  }

  shift(): T | undefined {
    for (const [whose, line] of this.#lines) {
      const item = line.items[line.next++]!
      this.#length--
      // At the end of the order: the others come first.
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
    return undefined
  }

  /** Takes out one that waits no more. @returns whether it was there */
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
