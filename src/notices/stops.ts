/**
 * Whether the share of what is stopped is unusual. It is held against the same hours of the days before, by their median:
 * one strange day moves nothing, and nights are compared with nights. Small numbers say nothing and are left out.
 */
import type { StopsSettings } from '../base/settings.js'

const dayMs = 86_400_000
/** So many days back. */
const days = 7
/** With fewer days that tell anything nothing is usual yet. */
const leastDays = 3
/** In which it is kept. */
const stepMs = 600_000

export interface Window {
  from: number
  to: number
}

export interface Counted {
  evaluations: number
  stopped: number
}

/** The last window, the step under way included, and the same of the days before, the nearest first. */
export function stopWindows(now: number, windowMs: number): Window[] {
  const to = Math.floor(now / stepMs) * stepMs + stepMs
  return Array.from({ length: days + 1 }, (_, day) => ({ from: to - windowMs - day * dayMs, to: to - day * dayMs }))
}

/**
 * What is usual, as far as that is known.
 * @param before the days before
 * @returns 0..1
 */
export function usualShare(before: readonly Counted[], least: number): number | undefined {
  const shares = before
    .filter(({ evaluations }) => evaluations >= least)
    .map(({ evaluations, stopped }) => stopped / evaluations)
    .sort((a, b) => a - b)
  if (shares.length < leastDays) return undefined
  const middle = Math.floor(shares.length / 2)
  return shares.length % 2 === 1 ? shares[middle] : (shares[middle - 1]! + shares[middle]!) / 2
}

/** From where on a share is unusual: below the one, above the other. Undefined where no share is. */
export function unusualBeyond(usual: number, { factor, difference }: StopsSettings): { low?: number; high?: number } {
  const high = Math.max(usual * factor, usual + difference)
  const low = Math.min(usual / factor, usual - difference)
  return { ...(high <= 1 && { high }), ...(low >= 0 && { low }) }
}

/** @param counts as `stopWindows` has them @returns undefined where nothing is unusual */
export function unusualStops(
  [current, ...before]: readonly Counted[],
  settings: StopsSettings
): { share: number; usual: number } | undefined {
  if (current === undefined || current.evaluations < settings.least) return undefined
  const usual = usualShare(before, settings.least)
  if (usual === undefined) return undefined
  const share = current.stopped / current.evaluations
  const { low, high } = unusualBeyond(usual, settings)
  const isUnusual = (high !== undefined && share >= high) || (low !== undefined && share <= low)
  return isUnusual ? { share, usual } : undefined
}
