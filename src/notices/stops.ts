/**
 * Detects an unusual share of stopped content. It is compared with the median of the same hours on the days before: so
 * one strange day has no effect, and nights are compared with nights. Small numbers are ignored.
 */
import type { StopsSettings } from '../base/settings.js'

const dayMs = 86_400_000
/** So many days back. */
const days = 7
/** Least days with data for a usual share. */
const leastDays = 3
/** Step of the stored data. */
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
 * The usual share, if known.
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

/** Thresholds of an unusual share, below and above. Undefined where no share is unusual. */
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
