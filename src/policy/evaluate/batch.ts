/**
 * Batches the verdicts that are requested in one turn of the event loop, and runs them together at its end. A verdict
 * reads some hundred kilobytes of code and tables; HTTP, JSON and the stores between two verdicts would push those out
 * of the processor's caches. Unbatched, a call of evaluate takes twice the processor time under 32 connections
 * (measured). One batch lasts a few milliseconds; the rest waits for the next turn, so that the loop does other work
 * and callers take turns.
 */
import { channel } from 'node:diagnostics_channel'
import { FairQueue } from '../../base/fair-queue.js'

/** Published before each batch while there are subscribers: from then on the event loop may be blocked. */
export const working = channel('sluicegate:working')

/** Longest batch, ms. Dozens of ordinary texts take less. */
const longestGo = 5

/** Of so many pieces one is anyone's: callers beyond their share come last, but they come. */
const anyones = 4

export type InTurn = <T>(work: () => T | Promise<T>, whose?: string) => Promise<T>

/**
 * @param isBeyond whether a caller has used more than its share: the others come first
 * @returns a function that runs work once all pending input is read: in order of request, callers in turns
 */
export function createBatch(isBeyond: (whose: string) => boolean = () => false): InTurn {
  const waiting = new FairQueue<() => void>()
  const isWithin = (whose: string) => !isBeyond(whose)
  let count = 0

  function next(): () => void {
    const first = ++count % anyones === 0 ? undefined : waiting.shift(isWithin)
    return first ?? waiting.shift()!
  }

  // The continuations run after the whole batch, for the same reason: promises settle only after this function returns.
  function drain(): void {
    if (working.hasSubscribers) working.publish(undefined)
    const ends = performance.now() + longestGo
    // Work that is requested by work waits for the next turn.
    for (let left = waiting.length; left > 0; left--) {
      next()()
      if (performance.now() >= ends) break
    }
    if (waiting.length > 0) setImmediate(drain)
  }

  return <T>(work: () => T | Promise<T>, whose = '') =>
    new Promise<T>((resolve, reject) => {
      // Runs after the pending input is read and before the loop waits: a single call loses no time.
      if (waiting.length === 0) setImmediate(drain)
      waiting.push(whose, () => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      })
    })
}
