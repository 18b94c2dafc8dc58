/** The two failures of a store: a unique value that is taken, which callers handle, and everything else. */
import { Fault } from '../../base/errors.js'

/** Two objects claim one unique value. Nothing was stored. */
export class Conflict extends Error {
  override name = 'Conflict'
}

/**
 * Runs one unit of storage work. Every error of a driver becomes the Fault `storage_unavailable`, with the original as
 * its cause, for the log only.
 */
export async function storageCall<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Conflict || error instanceof Fault) throw error
    throw unavailable(error)
  }
}

export function unavailable(cause: unknown): Fault {
  return new Fault('storage_unavailable', {
    headers: { 'retry-after': '1' },
    internal: cause instanceof Error ? cause.message : String(cause),
    cause
  })
}
