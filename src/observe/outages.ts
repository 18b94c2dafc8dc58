/** Tells the log of failures that repeat, so that an outage of the storage does not bury everything else. */
import { describeError, type Log } from './log.js'

/** While a task fails. */
const summaryMs = 60_000

/** Told the outcome of each round of a task: its error, or undefined where it succeeded. */
export type Rounds = (error: unknown) => void

/** @param now ms of a clock that is never set back */
export function tellOutages(log: Log, what: string, now: () => number = () => performance.now()): Rounds {
  let outage: { since: number; toldAt: number; failures: number } | undefined
  return (error) => {
    if (error === undefined) {
      if (outage === undefined) return
      log.info({ failures: outage.failures, seconds: Math.round((now() - outage.since) / 1000) }, `over: ${what}`)
      outage = undefined
      return
    }
    const at = now()
    outage ??= { since: at, toldAt: Number.NEGATIVE_INFINITY, failures: 0 }
    outage.failures++
    if (at - outage.toldAt < summaryMs) return
    outage.toldAt = at
    log.error({ err: describeError(error), failures: outage.failures }, what)
  }
}

/** Runs a round and tells its outcome. Never rejects. */
export async function tellRound(rounds: Rounds, work: () => Promise<unknown>): Promise<void> {
  await work().then(() => rounds(undefined), rounds)
}
