/** Puts what an edge has judged before a person: the one place that makes a review of a call. */
import type { JsonObject } from '../base/chat.js'
import type { Caller } from '../identity/caller.js'
import type { Evaluation } from '../policy/evaluation.js'
import type { Opened, ReviewedRequest, ReviewRequest, Turn } from './review.js'

/** Whose call it is. */
type Whose = Pick<Caller, 'accountId' | 'keyId' | 'lineage'>

export interface Opening extends Pick<ReviewedRequest, 'surface' | 'route' | 'canonical'> {
  evaluation: Evaluation
  /** Shown beside it. */
  context?: JsonObject | undefined
  /** What was said before it and does not stand in it, oldest first. */
  history?: readonly Turn[] | undefined
}

/** By what a review of a call is found again. */
export function subjectOf(
  { accountId: account, lineage }: Whose,
  { surface, route, canonical }: Pick<ReviewedRequest, 'surface' | 'route' | 'canonical'>
): ReviewedRequest {
  return { surface, account, lineage, route, canonical }
}

/** @returns what was opened, or found open; or what of the queue is full */
export function openReview(
  reviews: { open(review: ReviewRequest): Promise<Opened> },
  caller: Whose,
  opening: Opening
): Promise<Opened> {
  const { evaluation, context, history } = opening
  const { keyId } = caller
  return reviews.open({
    ...subjectOf(caller, opening),
    keyId,
    policy: evaluation.policy,
    evaluation,
    context,
    history
  })
}
