/** The meaning of a score in measured texts: how many of each kind reach it. */
import type { Points, Reached } from '../constitution-types'

/** The measured point nearest to a score. */
export function pointNear({ points }: Points, score: number): { index: number; point: number } {
  let index = 0
  for (const [i, point] of points.entries()) if (Math.abs(point - score) < Math.abs(points[index]! - score)) index = i
  return { index, point: points[index]! }
}

/** A share as people say it: `41 %`, `1 in 250`, `none of 1,840`. */
export function shareOf({ rows, reached }: Reached, index: number): string {
  const count = reached[index] ?? 0
  if (count === 0) return `none of ${rows.toLocaleString('en')}`
  const share = count / rows
  return share >= 0.1 ? `${Math.round(share * 100)} %` : `1 in ${Math.round(1 / share).toLocaleString('en')}`
}
