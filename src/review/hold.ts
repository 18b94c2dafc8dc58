/**
 * Holds requests until a person decides. A decision in this process ends a wait at once, one in another process within
 * a second.
 */
import type { Clock } from '../base/clock.js'
import type { Cancellation } from '../policy/evaluation.js'

/** How often the store is asked for a decision that another process took, ms. */
const askEveryMs = 1_000
/** Most waits, each of which holds a connection and a request in memory; further requests are answered at once. */
const maxWaits = 1_000

export interface Waits {
  /**
   * @returns whether it is decided; false when the time is over, or where too many wait already
   * @throws the reason for which the client left
   */
  wait(reviewId: string, ms: number, leave: Cancellation, isDecided: () => Promise<boolean>): Promise<boolean>
  settle(reviewId: string): void
}

export function createWaits(clock: Clock): Waits {
  const waking = new Map<string, Set<() => void>>()
  let waits = 0

  /** Waits until the decision, the client's leaving, or the end of the time. */
  function pause(reviewId: string, ms: number, leave: Cancellation): Promise<void> {
    return new Promise((resolve) => {
      const wakers = waking.get(reviewId) ?? new Set()
      const wake = () => {
        clearTimeout(timer)
        stop()
        wakers.delete(wake)
        if (wakers.size === 0) waking.delete(reviewId)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      waking.set(reviewId, wakers.add(wake))
      const stop = leave.onCancel(wake)
    })
  }

  return {
    async wait(reviewId, ms, leave, isDecided) {
      if (waits >= maxWaits) return false
      waits++
      try {
        const until = clock.monotonic() + ms
        for (;;) {
          if (leave.reason !== undefined) throw leave.reason
          if (await isDecided()) return true
          const left = until - clock.monotonic()
          if (left <= 0) return false
          await pause(reviewId, Math.min(left, askEveryMs), leave)
        }
      } finally {
        waits--
      }
    },
    settle(reviewId) {
      for (const wake of waking.get(reviewId) ?? []) wake()
    }
  }
}
