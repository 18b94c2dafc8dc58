/**
 * Work that comes in one turn of the event loop, done in one go at its end. A verdict reads some hundred kilobytes of code
 * and tables, and between two of them HTTP, JSON and the stores would push that out of the processor's caches: done apart,
 * a call of evaluate takes twice the processor time under 32 connections (measured). One go lasts a few milliseconds: what
 * is left then waits for the next turn, so that the loop comes to what else there is, and callers take turns.
 */
import { channel } from 'node:diagnostics_channel'
import { FairQueue } from '../../base/fair-queue.js'

/** Told before what is at hand is worked on, while anybody listens. From the first time on something may hold the event loop. */
export const working = channel('sluicegate:working')

/** ms of one go. Dozens of ordinary texts take less. */
const longestGo = 5

/** @returns what does the work when all that is at hand has been read: in the order it was asked for, callers in turns */
export function createBatch(): <T>(work: () => T | Promise<T>, whose?: string) => Promise<T> {
  const waiting = new FairQueue<() => void>()

  // What follows an outcome comes after all of them, for the same reason: no promise is told of before this has returned.
  function drain(): void {
    if (working.hasSubscribers) working.publish(undefined)
    const ends = performance.now() + longestGo
    // What work asks for waits for the next turn.
    for (let left = waiting.length; left > 0; left--) {
      waiting.shift()!()
      if (performance.now() >= ends) break
    }
    if (waiting.length > 0) setImmediate(drain)
  }

  return <T>(work: () => T | Promise<T>, whose = '') =>
    new Promise<T>((resolve, reject) => {
      // After what has been read, before the loop waits for more: alone, it costs a caller nothing.
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
