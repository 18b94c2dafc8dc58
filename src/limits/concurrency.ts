/**
 * How many requests each key has under way, in this process. Counted by lineage, so that a rotated key and its successor
 * have one number between them.
 */
export class Concurrency {
  readonly #underWay = new Map<string, number>()
  readonly #changed: (by: 1 | -1) => void

  /** @param changed told of each that begins and each that is over */
  constructor(changed: (by: 1 | -1) => void) {
    this.#changed = changed
  }

  /** @returns what lets go of the place, once however often it is called; undefined where there is none */
  take(lineage: string, most: number): (() => void) | undefined {
    const count = this.#underWay.get(lineage) ?? 0
    if (count >= most) return undefined
    this.#underWay.set(lineage, count + 1)
    this.#changed(1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#changed(-1)
      const left = this.#underWay.get(lineage)! - 1
      if (left === 0) this.#underWay.delete(lineage)
      else this.#underWay.set(lineage, left)
    }
  }
}
