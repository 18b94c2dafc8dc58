/** Opens a review of a judged call: the only place that makes one. */
import type { JsonObject } from '../base/chat.js'
import type { Caller } from '../identity/caller.js'
import type { Evaluation } from '../policy/evaluation.js'
import type { Opened, ReviewedRequest, ReviewRequest, Turn } from './review.js'

/** The caller. */
type Whose = Pick<Caller, 'accountId' | 'keyId' | 'lineage'>

export interface Opening extends Pick<ReviewedRequest, 'surface' | 'route' | 'canonical'> {
  evaluation: Evaluation
  /** Shown beside it. */
  context?: JsonObject | undefined
  /** Earlier turns that it does not repeat, oldest first. */
  history?: readonly Turn[] | undefined
}

/** The subject by which a review of a call is found again. */
export function subjectOf(
  { accountId: account, lineage }: Whose,
  { surface, route, canonical }: Pick<ReviewedRequest, 'surface' | 'route' | 'canonical'>
): ReviewedRequest {
  return { surface, account, lineage, route, canonical }
}

/** @returns the new or pending review; or the bound of the queue that is reached */
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
