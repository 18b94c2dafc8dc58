import { Fault } from '../../src/base/errors.js'

/** What a reader refused, and why; undefined where it did not. */
export function refusal(read: () => unknown): unknown {
  try {
    read()
  } catch (error) {
    if (error instanceof Fault) return error.fields.details
    throw error
  }
  return undefined
}
