/**
 * Requests begin in the order in which they came, a few in each turn of the event loop: between them the loop comes to
 * what else there is, so that a refusal, the health and the pieces of streams do not wait for all that is to be judged.
 */

/** Of a turn requests take one, or twice as long as everything else has taken: refusing must not be all that gets done. */
const share = 2
/** ms of it, at most. */
const longestSlice = 40
/** How many begin in one turn, at most. */
const mostInSlice = 64
/** How many of those that come in one turn begin at once, where none waits: for so few nothing else is late. */
export const mostAtOnce = 16

/** @param hasWaited whether another held it up */
type Begin = (hasWaited: boolean) => void

export class Turns {
  #waiting: Begin[] = []
  /** Index of the next. */
  #next = 0
  /** How many looks at the queue are due in this turn. */
  #looks = 0
  /** How many are to be due in each. */
  #batch = 1
  #sliceEnds = 0
  #ended = 0
  #isFirst = true
  /** How many have begun at once in this turn. */
  #atOnce = 0

  /** How many wait. */
  get length(): number {
    return this.#waiting.length - this.#next
  }

  /** At once where few have begun in this turn and none waits. */
  take(begin: Begin): void {
    if (this.length > 0 || this.#atOnce === mostAtOnce) {
      this.#waiting.push(begin)
      return
    }
    this.#atOnce++
    if (this.#looks === 0) this.#due(1)
    begin(false)
  }

  #due(looks: number): void {
    this.#looks = looks
    this.#isFirst = true
    for (let i = 0; i < looks; i++) setImmediate(this.#look)
  }

  /** What one begins is done before the next look, but for what it waits for. */
  #look = (): void => {
    const now = performance.now()
    if (this.#isFirst) this.#sliceEnds = now + Math.min(longestSlice, share * (now - this.#ended))
    const hasTime = this.#isFirst || now < this.#sliceEnds
    this.#isFirst = false
    this.#atOnce = 0
    this.#looks--
    const begin = hasTime ? this.#shift() : undefined
    if (this.#looks === 0) {
      this.#ended = now
      this.#batch = hasTime ? Math.min(mostInSlice, this.#batch * 2) : Math.max(1, this.#batch >> 1)
      // Also where none waits, if one begins now: the next comes after it.
      if (begin !== undefined || this.length > 0) this.#due(Math.max(1, Math.min(this.#batch, this.length)))
    }
    begin?.(true)
  }

  #shift(): Begin | undefined {
    const begin = this.#waiting[this.#next]
    if (begin === undefined) return undefined
    this.#next++
    if (this.#next === this.#waiting.length || this.#next === 1024) {
      this.#waiting.splice(0, this.#next)
      this.#next = 0
    }
    return begin
  }
}
