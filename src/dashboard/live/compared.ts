/** How a figure of a window stands beside the same of the week before, in words. */
import type { SafetyMetrics } from '../types'

/** The least known share of that week: with less, half a day would be compared with a day. */
const leastCovered = 0.95

/** A week ago as far as it may be compared. */
export function comparable({
  week_before: before
}: SafetyMetrics): NonNullable<SafetyMetrics['week_before']> | undefined {
  return before === null || before.covered < leastCovered ? undefined : before
}

/** `+12 % against last week`; undefined where there was nothing then. */
export function change(now: number | null, before: number | null | undefined): string | undefined {
  if (now === null || before === null || before === undefined || before === 0) return undefined
  const percent = Math.round((now / before - 1) * 100)
  return `${signed(percent)} % against last week`
}

/** Of two shares of 1: `+1.2 points against last week`. */
export function points(now: number | undefined, before: number | undefined): string | undefined {
  if (now === undefined || before === undefined) return undefined
  return `${signed(Math.round((now - before) * 1000) / 10)} points against last week`
}

export function shareOf({ total, stopped }: { total: number; stopped: number }): number | undefined {
  return total === 0 ? undefined : stopped / total
}

function signed(value: number): string {
  if (value === 0) return '±0'
  return `${value > 0 ? '+' : '−'}${Math.abs(value).toLocaleString('en')}`
}
