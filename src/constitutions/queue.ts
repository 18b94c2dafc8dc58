/** One piece of work after another. */
import { Fault } from '../base/errors.js'

/** Reading one large constitution takes about a second: whoever would wait longer than this many is told to come back. */
const mostWaiting = 16

export interface Queue {
  /** @throws Fault `overloaded` where too much waits already */
  run<T>(work: () => Promise<T>): Promise<T>
}

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return {
    run(work) {
      if (waiting >= mostWaiting) return Promise.reject(new Fault('overloaded', { headers: { 'retry-after': '5' } }))
      waiting++
      const done = last.then(work).finally(() => waiting--)
      last = done.catch(() => undefined)
      return done
    }
  }
}

/** Asked for while it is under way, the work is done once more: what is under way may have looked already. */
export function onceAtATime(work: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | undefined
  let isAskedAgain = false
  const run = async () => {
    do {
      isAskedAgain = false
      await work()
    } while (isAskedAgain)
  }
  return () => {
    if (underWay !== undefined) isAskedAgain = true
    underWay ??= run().finally(() => {
      underWay = undefined
    })
    return underWay
  }
}
