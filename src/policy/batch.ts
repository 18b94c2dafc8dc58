/**
 * Work that comes in one turn of the event loop, done in one go at its end. A verdict reads some hundred kilobytes of code
 * and tables. Between two of them HTTP, JSON and the stores would push that out of the processor's caches, which costs
 * more than the verdict itself: of 32 connections at once, each verdict then takes a third of the time.
 */

interface Task {
  run(): void
  settle(): void
}

/** @returns what does the work when all that is at hand has been read, and tells its outcome in the order it was asked for */
export function createBatch(): <T>(work: () => T | Promise<T>) => Promise<T> {
  let waiting: Task[] = []

  function drain(): void {
    const tasks = waiting
    waiting = []
    for (const task of tasks) task.run()
    // What follows a verdict comes after all of them, for the same reason.
    for (const task of tasks) task.settle()
  }

  return <T>(work: () => T | Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      let settle: () => void
      // After what has been read, before the loop waits for more: alone, it costs a caller nothing.
      if (waiting.length === 0) setImmediate(drain)
      waiting.push({
        run() {
          try {
            const outcome = work()
            settle = () => resolve(outcome)
          } catch (error) {
            settle = () => reject(error)
          }
        },
        settle: () => settle()
      })
    })
}
