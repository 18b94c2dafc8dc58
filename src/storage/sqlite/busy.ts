/** Waiting for another process's write lock without holding up the event loop. */
import { setTimeout as delay } from 'node:timers/promises'

/** How long SQLite itself waits, which blocks the loop: enough for the usual commit of another process, and no more. */
export const blockingWaitMs = 20
/** How long a write waits in all. The command line beside a running server takes milliseconds. */
const patienceMs = 1000
const pauseMs = 10

/** SQLITE_BUSY and its extended codes, https://sqlite.org/rescode.html; also where a store wrapped the driver's error. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('errcode' in error) return (Number(error.errcode) & 0xff) === 5
  return isBusy(error.cause)
}

/** Repeats work that changes nothing where it fails for the lock, until it succeeds or patience ends. */
export async function whileBusy<T>(work: () => T | Promise<T>): Promise<T> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
      await delay(pauseMs)
    }
  }
}
