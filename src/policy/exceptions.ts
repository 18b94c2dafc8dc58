/**
 * Matches that people have found to be wrong, for one text and one rule. They are left out when a text is weighed, and
 * stay among its detections.
 */
import type { ChatPart } from '../chat.js'
import type { Detection } from './evaluation.js'

/** What is excepted for the caller at hand. */
export interface Exceptions {
  covers(rule: string, text: string): boolean
}

/** A rule's matches in one part. Plain data, so that it can go to another thread. */
export interface Suppressed {
  rule: string
  /** Index into the parts. */
  part: number
}

/**
 * The matches that an exception can be about: those of one part by itself. What only several parts together, or earlier
 * turns, have shown is not the matter of that text.
 */
export function exceptable(
  detections: readonly Pick<Detection, 'rule' | 'type' | 'layer' | 'pointer'>[],
  parts: readonly ChatPart[]
): Suppressed[] {
  const found: Suppressed[] = []
  for (const { rule, type, layer, pointer = '' } of detections) {
    if (type === 'session_risk' || layer.startsWith('joined') || layer === 'judge') continue
    const part = parts.findIndex((one) => one.pointer === pointer)
    if (part >= 0 && !found.some((other) => other.rule === rule && other.part === part)) found.push({ rule, part })
  }
  return found
}

/** Those of a verdict that are excepted. */
export function suppressedOf(
  exceptions: Exceptions,
  detections: readonly Detection[],
  parts: readonly ChatPart[]
): Suppressed[] {
  return exceptable(detections, parts).filter(({ rule, part }) => exceptions.covers(rule, parts[part]!.text))
}
