/**
 * Time, injected wherever it is read, so that grace periods, windows and expiries are tested without sleeping.
 * `now` is wall time (ms since the epoch) for what is stored and shown; `monotonic` (ms, arbitrary origin, never steps
 * back) is for limits and durations, so that a change of the system clock neither opens nor closes a window.
 */
export interface Clock {
  now(): number
  monotonic(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now()
}
