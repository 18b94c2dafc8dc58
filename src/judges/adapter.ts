/**
 * The contract of a judge's adapter, one file for each type. It asks once and returns scores, or fails; everything else
 * is shared.
 */

import type { Picture } from '../base/chat.js'
import type { Question } from '../policy/escalate/judges.js'
import type { Category, Scores } from '../policy/evaluation.js'

export type Asked = Pick<Question, 'texts' | 'picture' | 'direction' | 'categories' | 'wordsOf'>

export interface Answer {
  /** 0..1 for at least every category asked of, the worst of all texts. */
  scores: Partial<Scores>
  /** Whether it objects to anything at all, even outside of our categories. */
  flagged: boolean
}

export interface Adapter {
  /**
   * @param signal ends the wait; an adapter that cannot stop at once is left to end by itself
   * @throws JudgeFailure, or whatever the transport throws, which counts as `connection`
   */
  ask(asked: Asked, signal: AbortSignal): Promise<Answer>
  close(): Promise<void>
}

/** A picture as the APIs of OpenAI's shape take one, in a list of parts. */
export function partOf({ type, data }: Picture): { type: 'image_url'; image_url: { url: string } } {
  return { type: 'image_url', image_url: { url: `data:${type};base64,${data}` } }
}

/** Why there is no opinion. A closed set: it is a label of a metric. */
export const failures = [
  'timeout',
  'connection',
  /** An answer of HTTP that is no success, redirects included. */
  'status',
  /** The judge refuses this text (400, 413, 422): too long for it, as a rule. */
  'rejected',
  /** The answer does not have the API's shape. */
  'invalid_response',
  /** The shape is right, but the model's text is no verdict. */
  'invalid_answer',
  'too_long',
  'overloaded',
  'breaker_open',
  'unknown_judge'
] as const
export type FailureReason = (typeof failures)[number]

export class JudgeFailure extends Error {
  readonly reason: FailureReason

  /** @param message for an operator: never a text, a key, or what the judge wrote */
  constructor(reason: FailureReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'JudgeFailure'
    this.reason = reason
  }
}

/** A judge's own labels, each with its categories here. */
export type Labels = Readonly<Record<string, readonly Category[]>>

/** The worst score of each category over its labels. */
export function scoresOf(labels: Labels, found: Iterable<readonly [label: string, score: number]>): Partial<Scores> {
  const scores: Partial<Scores> = {}
  for (const [label, score] of found) {
    if (!Object.hasOwn(labels, label)) continue
    for (const category of labels[label]!) scores[category] = Math.max(scores[category] ?? 0, score)
  }
  return scores
}

/** The labels to ask about for these categories. */
export function labelsFor(labels: Labels, categories: readonly Category[]): string[] {
  return Object.keys(labels).filter((label) => labels[label]!.some((category) => categories.includes(category)))
}
