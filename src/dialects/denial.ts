/** What a dialect is told when a verdict stops an exchange. No evaluated text is in it. */

import type { JsonObject, Target } from '../base/chat.js'
import type { ReviewBound } from '../base/settings.js'
import type { Occasion, Spoken } from '../base/texts.js'
import type { Decision, Evaluation } from '../policy/evaluation.js'

export type StoppingDecision = Exclude<Decision, 'permit'>

/** The code and status of a verdict on a proxied route (docs/api.md, section 6). */
export const denialTable = {
  forbid: { status: 400, code: 'content_filter' },
  divert: { status: 403, code: 'review_required' },
  depends: { status: 422, code: 'context_required' }
} as const satisfies Record<StoppingDecision, { status: number; code: string }>

/** Where a person would have to decide, and the queue takes no more: refused as by `forbid`, for another reason. */
export const queueFull = { status: 403, code: 'review_queue_full' } as const

export interface Denial {
  decision: StoppingDecision
  /** With `forbid`: what of the queue of reviews was full. */
  full?: ReviewBound | undefined
  /** Whose words were stopped: the caller's or the model's. */
  direction: 'request' | 'answer'
  evaluation: Evaluation
  /** RFC 6901 pointer of the offending message, or of the leaf where it is in no message. */
  pointer: string | undefined
  reviewId: string | undefined
  /** What people read of it: errors are for developers, turns of the conversation for end users. */
  wording: Spoken
}

type Told = (typeof denialTable)[StoppingDecision] | typeof queueFull

export function refusalOf({ decision, full }: Pick<Denial, 'decision' | 'full'>): Told {
  return full === undefined ? denialTable[decision] : queueFull
}

/** What people are told of. */
export function occasionOf({ decision, direction, full }: Pick<Denial, 'decision' | 'direction' | 'full'>): Occasion {
  if (full !== undefined) return 'queue_full'
  if (direction === 'request') return decision
  return decision === 'forbid' ? 'answer_forbid' : 'answer_divert'
}

/** What an assistant turn written by the gateway itself is made from. */
export interface TurnFacts {
  denial: Denial
  /** The request as it was judged: names the model, the streaming options. */
  request: JsonObject
  target: Target
  requestId: string
  /** Seconds since the epoch. */
  created: number
}
