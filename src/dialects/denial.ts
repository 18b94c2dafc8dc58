/** Denials: the facts for a dialect when a verdict stops an exchange. They contain no evaluated text. */

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

/** The refusal where a person would have to decide but the queue is full: like `forbid`, with another code. */
export const queueFull = { status: 403, code: 'review_queue_full' } as const

export interface Denial {
  decision: StoppingDecision
  /** With `forbid`: the bound of the review queue that was reached. */
  full?: ReviewBound | undefined
  /** Direction of the stopped text: the caller's or the model's. */
  direction: 'request' | 'answer'
  evaluation: Evaluation
  /** RFC 6901 pointer of the offending message, or of the leaf where it is in no message. */
  pointer: string | undefined
  reviewId: string | undefined
  /** Its texts: errors are for developers, turns of the conversation for end users. */
  wording: Spoken
}

type Told = (typeof denialTable)[StoppingDecision] | typeof queueFull

export function refusalOf({ decision, full }: Pick<Denial, 'decision' | 'full'>): Told {
  return full === undefined ? denialTable[decision] : queueFull
}

/** The occasion by which texts are chosen. */
export function occasionOf({ decision, direction, full }: Pick<Denial, 'decision' | 'direction' | 'full'>): Occasion {
  if (full !== undefined) return 'queue_full'
  if (direction === 'request') return decision
  return decision === 'forbid' ? 'answer_forbid' : 'answer_divert'
}

/** Facts for an assistant turn that the gateway itself writes. */
export interface TurnFacts {
  denial: Denial
  /** The request as it was judged: names the model, the streaming options. */
  request: JsonObject
  target: Target
  requestId: string
  /** Seconds since the epoch. */
  created: number
}
