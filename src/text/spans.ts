/** Stretches of a text. */
import type { Span } from './fold.js'

/**
 * Joins stretches that touch or are at most `gap` apart; sorted from left to right. @param gap UTF-16 units; -1: those that
 * only touch stay apart
 */
export function merged(stretches: readonly Span[], gap = 0): Span[] {
  const all: Span[] = []
  for (const { start, end } of [...stretches].sort((a, b) => a.start - b.start)) {
    const last = all.at(-1)
    if (last !== undefined && start <= last.end + gap) last.end = Math.max(last.end, end)
    else all.push({ start, end })
  }
  return all
}
