/** What a dialect is told when a verdict stops an exchange, and the sentences a person then reads. No evaluated text in them. */

import type { ReviewBound } from '../base/settings.js'
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
}

export function refusalOf({ decision, full }: Pick<Denial, 'decision' | 'full'>): { status: number; code: string } {
  return full === undefined ? denialTable[decision] : queueFull
}

const whose: Readonly<Record<ReviewBound, string>> = {
  key: 'of this key ',
  account: 'of this account ',
  total: '',
  bytes: ''
}

export function sentenceOf(denial: Denial): string {
  if (denial.full !== undefined) {
    const what = denial.direction === 'request' ? 'This request' : 'This answer'
    return `${what} needs a decision by a person, and the queue of reviews ${whose[denial.full]}is full. Try again later.`
  }
  switch (denial.decision) {
    case 'forbid':
      return denial.direction === 'request'
        ? 'This request was refused by the content policy.'
        : 'This answer was withheld by the content policy.'
    case 'divert': {
      const id = denial.reviewId === undefined ? '' : ` (review ${denial.reviewId})`
      return denial.direction === 'request'
        ? `This request is under review by a person${id}. Send it again once it is approved.`
        : `This answer is under review by a person${id}.`
    }
    case 'depends': {
      const keys = denial.evaluation.missing_context ?? []
      const which = keys.length === 0 ? '' : `: ${keys.join(', ')}`
      return `More context is needed before this can be answered${which}. Send it as x-safety-context or in metadata.`
    }
    default:
      denial.decision satisfies never
      throw new Error('unknown decision')
  }
}
