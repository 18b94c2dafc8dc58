/**
 * Exceptions: matches of one rule in one text that people have found to be wrong. They do not count in the score, but
 * stay among the detections.
 */
import type { ChatPart } from '../../base/chat.js'
import type { Detection, Exceptions } from '../evaluation.js'

/** A rule's matches in one part. Plain data, so that it can go to another thread. */
export interface Suppressed {
  rule: string
  /** Index into the parts. */
  part: number
}

/**
 * The matches that an exception can cover: those within one part. A match over several parts, or with earlier turns,
 * does not belong to one text.
 */
export function exceptable(
  detections: readonly Pick<Detection, 'rule' | 'type' | 'layer' | 'pointer'>[],
  parts: readonly ChatPart[]
): Suppressed[] {
  const found = new Map<string, Suppressed>()
  const at = new Map<string, number>()
  for (const [part, { pointer }] of parts.entries()) if (!at.has(pointer)) at.set(pointer, part)
  let last: Suppressed | undefined
  for (const { rule, type, layer, pointer = '' } of detections) {
    if (type === 'session_risk' || layer.startsWith('joined') || layer === 'judge') continue
    const part = at.get(pointer)
    // One text may hold thousands of places of one rule.
    if (part === undefined || (last?.rule === rule && last.part === part)) continue
    last = { rule, part }
    found.set(placeKey(rule, part), last)
  }
  return [...found.values()]
}

/** Names a rule's matches in one part. */
function placeKey(rule: string, part: number): string {
  return `${part} ${rule}`
}

/** @returns a function that tells whether no exception covers a match */
export function isCounted(
  suppressed: readonly Suppressed[]
): (match: { rule: { name: string }; part: number }) => boolean {
  const places = new Set(suppressed.map(({ rule, part }) => placeKey(rule, part)))
  return ({ rule, part }) => !places.has(placeKey(rule.name, part))
}

/** The excepted matches of a verdict. */
export function suppressedOf(
  exceptions: Exceptions,
  detections: readonly Detection[],
  parts: readonly ChatPart[]
): Suppressed[] {
  return exceptable(detections, parts).filter(({ rule, part }) => exceptions.covers(rule, parts[part]!.text))
}
