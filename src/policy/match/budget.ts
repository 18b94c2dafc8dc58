/**
 * Checks the budget of a request before it is judged, including its joined texts, so that no work is spent on one that
 * exceeds it.
 */
import { type Budget, budgetSettings } from '../../base/budget.js'
import type { ChatContent, ChatPart } from '../../base/chat.js'
import { tooComplex } from '../../base/errors.js'
import { joinedUnits } from './joined.js'

/**
 * UTF-16 units that judging a call reads, without other readings. Linear in the indexes of the runs.
 * @param most a larger count may be cut to any number above it: counting all would cost as much as reading them
 */
export function judgedUnits(
  parts: readonly ChatPart[],
  joined: readonly (readonly number[])[],
  most = Number.POSITIVE_INFINITY
): number {
  let units = 0
  for (let i = 0; i < parts.length; i++) units += parts[i]!.text.length
  for (let i = 0; i < joined.length && units <= most; i++) units += joinedUnits(joined[i]!, parts)
  return units
}

/**
 * Most readings of one text: by itself, in its turn, among those of its role and among all, each with two separators at
 * most.
 */
const mostReadings = 16
/** Share of a budget's units that a request with short texts may always use, however they are joined. */
const smallShare = 1 / 8

/**
 * Keeps joined units in proportion to the sent bytes: otherwise a few kilobytes, each joined to one long run, could use
 * up a budget meant for a body of a megabyte.
 */
function mostUnits(parts: readonly ChatPart[], budget: Budget): number {
  return Math.min(budget.units, Math.max(budget.units * smallShare, judgedUnits(parts, []) * mostReadings))
}

/** @throws Fault `too_complex` */
export function checkBudget({ parts, joined }: Pick<ChatContent, 'parts' | 'joined'>, budget: Budget): void {
  if (parts.length > budget.parts) {
    throw tooComplex('parts', parts.length, budget.parts, budgetSettings.parts)
  }
  const most = mostUnits(parts, budget)
  const units = judgedUnits(parts, joined, most)
  if (units > most) throw tooComplex('units', units, most, budgetSettings.units)
}
