/** How much is tried, and how it is told: one line for each promise. */
import type { Test } from 'tap'

/** `npm run test:faults` tries all of it; `npm test` a short form. */
export const isFull = process.env['FAULTS'] === 'full'

export function promise(t: Test, what: string, figure: string, bar: string, holds: boolean): void {
  process.stderr.write(`${holds ? 'pass' : 'FAIL'}  ${what}: ${figure} (bar: ${bar})\n`)
  t.ok(holds, `${what}: ${figure} (bar: ${bar})`)
}
