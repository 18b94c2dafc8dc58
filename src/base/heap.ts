/** V8's heap while a server starts: by default it stays for good at the size that starting, of all phases, needs. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What starting put off to later turns of the event loop is done by then. */
const settledMs = 1_000

let isSmall = false

/**
 * Keeps the space for new objects from growing to its full 32 MiB while modules are loaded and policies compiled, where
 * nearly all that is made is kept and a larger one gains nothing.
 * @returns to be called when the server stands: what starting left behind is collected, and the space may grow with the load
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
  // Small spaces for new objects leave old ones scattered over half-empty pages: drawn together, a fifth of the heap goes back.
  setFlagsFromString('--compact-on-every-full-gc')
  collect()
  setFlagsFromString('--no-compact-on-every-full-gc')
  isSmall = false
  setFlagsFromString('--semi-space-growth-factor=2')
}

/** To be called when a thread runs: V8 sets the factor, which is the whole process's, back with each new heap. */
export function stillSmall(): void {
  if (isSmall) setFlagsFromString('--semi-space-growth-factor=1')
}
