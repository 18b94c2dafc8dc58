/** A queue that runs one piece of work after another. */
import { Fault } from '../base/errors.js'

/** Most waiting pieces: reading one large constitution takes about a second, and further callers must retry. */
const mostWaiting = 16

export interface Queue {
  /** @throws Fault `overloaded` where too many wait already */
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

/** A call during a run causes one more run, since the present one may already have read the old state. */
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
