/**
 * The budget of a request: how many JSON values, texts and characters of it are judged at most. Counted before judging
 * begins, what is judged joined included, so that what a request costs is known before it is paid for.
 */

import { joinedUnits } from '../policy/match/joined.js'
import type { ChatContent, ChatPart } from './chat.js'
import { tooComplex } from './errors.js'

export interface Budget {
  /** JSON values of a body, containers included. */
  nodes: number
  /** Texts: string leaves, and keys that are no names of the API's own. */
  parts: number
  /** UTF-16 units of the texts, and of texts that a model reads as one. */
  units: number
  /** UTF-16 units of their other readings (decoded, put right). */
  views: number
}

/** Several times what a body of 1 MiB of chat, tools and documents comes to. */
export const defaultBudget: Budget = { nodes: 50_000, parts: 20_000, units: 8_000_000, views: 4_000_000 }

/** The keys of the configuration that raise each. */
export const budgetSettings = {
  nodes: 'limits.request.nodes',
  parts: 'limits.request.parts',
  units: 'limits.request.units',
  views: 'limits.request.views'
} as const satisfies Record<keyof Budget, string>

/** UTF-16 units that are read when a call is judged, but for other readings of them. Linear in the indexes of the runs. */
export function judgedUnits(parts: readonly ChatPart[], joined: readonly (readonly number[])[]): number {
  let units = 0
  for (let i = 0; i < parts.length; i++) units += parts[i]!.text.length
  for (let i = 0; i < joined.length; i++) units += joinedUnits(joined[i]!, parts)
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
  const units = judgedUnits(parts, joined)
  const most = mostUnits(parts, budget)
  if (units > most) throw tooComplex('units', units, most, budgetSettings.units)
}
