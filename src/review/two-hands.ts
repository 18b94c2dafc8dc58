/**
 * Where a decision takes two hands: whether the one that decides is another than those that caused or began it, and what
 * is said where it is not. The way out is the same everywhere, and the refusal names it.
 */
import { Fault } from '../base/errors.js'
import { type Hand, sharedRoots } from '../identity/hands.js'

const wayOut =
  'a person who signs in, or a key that shares no ancestor with it (one made on the command line, or by another person)'
const rule = 'Keys that descend from one key or person, and that person, count as one.'

/** A decision over what the decider caused, or proposed. */
export function ownDecision(decider: Hand, cause: Hand, what: string): Fault | undefined {
  const ancestors = sharedRoots(cause, decider)
  if (ancestors.length === 0) return undefined
  const message = `${what} ${rule} Somebody else may decide it: ${wayOut}.`
  return new Fault('own_review', { message, fields: { ancestors } })
}

/** A second permit by the hand of the first. */
export function secondOfOne(decider: Hand, first: Hand): Fault | undefined {
  const ancestors = sharedRoots(first, decider)
  if (ancestors.length === 0) return undefined
  const message = `Your own hand has permitted this review already. ${rule} It needs a second: ${wayOut}.`
  return new Fault('second_person_required', { message, fields: { ancestors } })
}
