/**
 * Which requests are refused while more come than can be answered: those that would wait for too long. What they would wait
 * is known when they come: how many wait before them, and how long each of these takes at present. How long is too long
 * falls while requests wait, so that what comes at once is answered, and what goes on does not make all of them late; it
 * rises again while none waits, so that nobody is refused for a process that has nothing to do.
 */

/**
 * ms that a request may wait while ever more come than can be answered. Shorter, it would refuse clients of which each
 * waits for its answer before it asks again, only for being many: several hundred of them have to wait for each other, and
 * those that are refused ask again at once, which is what makes a crowd a flood.
 */
const shortest = 500
/** ms that a request may wait where all is well before. */
const longest = 2_000
/** ms in which the wait that is allowed falls to a third, and in which it becomes three times as long again. */
const falls = 1_000
const rises = 25
/** From this share of the wait that is allowed on some are refused, and all from the other: one by one, not in waves. */
const someFrom = 0.8
const allFrom = 1.2
/** With fewer that wait before it a request is never refused: its wait is short, or others are to blame for it. */
const fewest = 32
/** ms between two requests where none was timed of late. */
const assumed = 0.5
/** Weight of the last interval in their mean. */
const gain = 1 / 16

export class Shedding {
  /** ms between two requests of which one waited for the other: their mean of late. */
  #interval = assumed
  /** When the last one began. */
  #begun = 0
  #allowed = longest
  #looked = 0
  /** What the next would have waited at the last look. */
  #wait = 0
  /** Of a refusal, what adds up with each that comes while some are refused. */
  #due = 0

  /** To be asked for each that comes. @param waiting how many wait already @param now ms */
  refuses(waiting: number, now: number): boolean {
    this.#look(waiting, now)
    const share = (this.#wait / this.#allowed - someFrom) / (allFrom - someFrom)
    if (waiting < fewest || share <= 0) return false
    this.#due += Math.min(1, share)
    if (this.#due < 1) return false
    this.#due--
    return true
  }

  /** One begins. @param waiting how many wait now @param hasWaited whether the one before held it up */
  begins(waiting: number, hasWaited: boolean, now: number): void {
    this.#look(waiting, now)
    if (hasWaited) this.#interval += gain * (now - this.#begun - this.#interval)
    this.#begun = now
  }

  #look(waiting: number, now: number): void {
    const passed = now - this.#looked
    this.#looked = now
    if (this.#wait > shortest) this.#allowed = Math.max(shortest, this.#allowed * Math.exp(-passed / falls))
    else if (this.#wait === 0 && this.#allowed < longest)
      this.#allowed = Math.min(longest, this.#allowed * Math.exp(passed / rises))
    // What it took before such a rest says nothing about what comes now.
    if (this.#wait === 0 && this.#allowed === longest) this.#interval = Math.min(this.#interval, assumed)
    this.#wait = waiting * this.#interval
  }
}
