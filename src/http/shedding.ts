/**
 * Which requests are refused while more come than can be answered: as many as it takes for the others to wait for about
 * `target`, spread evenly. Proportional Integral controller Enhanced, RFC 8033, with the lag of the event loop as the
 * delay of the queue: requests wait in their sockets until the loop comes to them.
 */

/** ms of lag that is aimed at under overload; who is refused waited for about as long. */
const target = 40
/** ms of lag that are let pass: what comes at once is no overload if it does not go on. */
const burst = 1_000
/** Fewer requests in one turn of the loop are never refused: their wait is short, or others are to blame for it. */
const fewest = 32
/** Share of requests per second and per ms: of lag beyond the target, and of its growth since the last look. */
const integral = 0.03
const proportional = 0.003
/** As RFC 8033 has it. */
const smallShare = 0.2
/** Where the loop keeps up, what is left of the share halves in as many ms. */
const halfLife = 250

export class Shedding {
  #share = 0
  #allowance = burst
  #lagBefore = 0
  #came = 0
  #isCrowded = false
  /** Shares that add up: the request with which they come to a whole one is refused. */
  #owed = 0

  /** Whether the loop keeps up and nothing came since the last look. */
  get isIdle(): boolean {
    return this.#share === 0 && this.#allowance === burst && this.#came === 0
  }

  /** To be asked once for each request. */
  refuses(): boolean {
    this.#came++
    if (this.#allowance > 0 || this.#share === 0 || !(this.#isCrowded || this.#came > fewest)) return false
    // The loop keeps up again: what is left of a small share is for the next wave.
    if (this.#share < smallShare && this.#lagBefore < target / 2) return false
    this.#owed += this.#share
    if (this.#owed < 1) return false
    this.#owed--
    return true
  }

  /** @param lag ms that the loop is behind @param elapsed ms since the last call */
  observe(lag: number, elapsed: number): void {
    this.#isCrowded = this.#came > fewest
    this.#came = 0
    const isCalm = lag < target / 2 && this.#lagBefore < target / 2
    if (isCalm) this.#share *= 0.5 ** (elapsed / halfLife)
    else {
      const change = (integral * (lag - target) * elapsed) / 1000 + proportional * (lag - this.#lagBefore)
      this.#share = Math.min(1, Math.max(0, this.#share + change))
    }
    if (this.#share < 0.001) this.#share = 0
    if (isCalm && this.#share === 0) this.#allowance = burst
    else this.#allowance = Math.max(0, this.#allowance - elapsed)
    this.#lagBefore = lag
  }
}
