/** Keeps V8's heap small during the start, since it would otherwise stay at the size that only the start needs. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Deferred work of the start is done after this time, ms. */
const settledMs = 1_000

let isSmall = false

/**
 * Keeps the young generation from growing to its full 32 MiB while modules are loaded and policies compiled: nearly all
 * of their objects survive, so that a larger one gains nothing.
 * @returns a function to call when the server runs: it collects the garbage of the start, and lets the young generation
 * grow with the load
 */
export function keepSmall(): () => void {
  isSmall = true
  stillSmall()
  return () => void setTimeout(letGrow, settledMs).unref()
}

function letGrow(): void {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  // A small young generation leaves old objects on half-empty pages: compaction frees a fifth of the heap.
  setFlagsFromString('--compact-on-every-full-gc')
  collect()
  setFlagsFromString('--no-compact-on-every-full-gc')
  isSmall = false
  setFlagsFromString('--semi-space-growth-factor=2')
}

/** Call it when a thread has started: V8 resets the process-wide factor with each new heap. */
export function stillSmall(): void {
  if (isSmall) setFlagsFromString('--semi-space-growth-factor=1')
}
