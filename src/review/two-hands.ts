/**
 * The rule of separate hands (one hand: a person, with all keys that descend from them): checks that a decider did not
 * cause or begin the matter, and writes the refusal, which names the way out.
 */
import { Fault } from '../base/errors.js'
import { type Hand, sharedRoots } from '../identity/hands.js'

const wayOut =
  'a person who signs in, or a key that shares no ancestor with it (one made on the command line, or by another person)'
const rule = 'Keys that descend from one key or person, and that person, count as one.'

/** Refuses a decision over a matter that the decider caused or proposed. */
export function ownDecision(decider: Hand, cause: Hand, what: string): Fault | undefined {
  const ancestors = sharedRoots(cause, decider)
  if (ancestors.length === 0) return undefined
  const message = `${what} ${rule} Somebody else may decide it: ${wayOut}.`
  return new Fault('own_review', { message, fields: { ancestors } })
}

/** Refuses a second permit by the hand of the first. */
export function secondOfOne(decider: Hand, first: Hand): Fault | undefined {
  const ancestors = sharedRoots(first, decider)
  if (ancestors.length === 0) return undefined
  const message = `Your own hand has permitted this review already. ${rule} It needs a second: ${wayOut}.`
  return new Fault('second_person_required', { message, fields: { ancestors } })
}
