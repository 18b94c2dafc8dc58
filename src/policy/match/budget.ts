/**
 * Holds a request to its budget before it is judged, what is judged joined included, so that what it costs is known before it
 * is paid for.
 */
import { type Budget, budgetSettings } from '../../base/budget.js'
import type { ChatContent, ChatPart } from '../../base/chat.js'
import { tooComplex } from '../../base/errors.js'
import { joinedUnits } from './joined.js'

/**
 * UTF-16 units that are read when a call is judged, but for other readings of them. Linear in the indexes of the runs.
 * @param most where there are more, some number beyond it: to count them all would cost as much as to read them
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

/** A text is read by itself, and in its turn, among those of its role and among all, each with two separators at most. */
const mostReadings = 16
/** Of the units of a budget: what a request may come to whose texts are short, however they are joined. */
const smallShare = 1 / 8

/**
 * What is joined stays in proportion to what was sent: a few kilobytes, of which each is joined to one long run, would
 * else take all of a budget that is made for a body of a megabyte.
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
