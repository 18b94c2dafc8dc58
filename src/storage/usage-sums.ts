/** Usage that waits for its commit, summed by key, surface and day. */
import type { UsageRow, UsageStore } from './contracts/usage-store.js'

const dayMs = 86_400_000

export class UsageSums {
  #sums = new Map<string, UsageRow>()

  get size(): number {
    return this.#sums.size
  }

  add({ at, ...use }: Parameters<UsageStore['add']>[0]): void {
    // Dividing is a tenth of the cost of writing a date, which then is written once a day and key.
    const day = Math.floor(at / dayMs)
    const key = `${use.keyId} ${use.surface} ${day}`
    const sum = this.#sums.get(key)
    if (sum === undefined) {
      this.#sums.set(key, { ...use, day: new Date(day * dayMs).toISOString().slice(0, 10) })
    } else {
      sum.evaluations += use.evaluations
      sum.characters += use.characters
    }
  }

  /** All of it, which is then no longer here. */
  take(): UsageRow[] {
    const rows = [...this.#sums.values()]
    this.#sums = new Map()
    return rows
  }
}
