/** What whole and streamed answers share: their verdict, and the review of what is kept from a client. */
import type { ChatContent, ChatReply } from '../base/chat.js'
import type { Denial } from '../dialects/denial.js'
import type { Evaluation } from '../policy/evaluation.js'
import { asked, fork } from './earlier.js'
import type { Exchange } from './exchange.js'
import { passMedia } from './receipt.js'
import { denialOf, evaluate, raise } from './verdict.js'

/** The verdict over an answer, with what could not be read in it counted against it as the route says. */
export async function judgeContent(exchange: Exchange, content: ChatReply): Promise<Evaluation | undefined> {
  await fork(exchange, content.id)
  if (content.parts.length === 0 && content.media.length > 0 && exchange.route.unscannable === 'permit') {
    // Sound alone, many times a second: there is nothing in it that a verdict could be about.
    passMedia(exchange, content)
    return undefined
  }
  const evaluation = await evaluate(exchange, 'answer', content, undefined)
  return evaluation === undefined ? undefined : countMedia(exchange, content, evaluation)
}

/** What could not be read counts against a verdict, as the route says. */
export function countMedia(exchange: Exchange, content: ChatContent, evaluation: Evaluation): Evaluation {
  if (content.media.length === 0) return evaluation
  const { route } = exchange
  if (route.mode === 'enforce' && route.unscannable !== 'permit') {
    return raise(exchange, evaluation, route.unscannable === 'deny' ? 'forbid' : 'divert')
  }
  passMedia(exchange, content)
  return evaluation
}

/**
 * Keeps an answer for a person. `depends` comes here too: a model cannot be asked for context.
 * @returns a `forbid` where the queue takes no more
 */
export async function storeAnswer(
  exchange: Exchange,
  content: ChatContent,
  evaluation: Evaluation,
  canonical: string
): Promise<Denial> {
  const { deps, route, inbound, context } = exchange
  const { accountId: account, lineage, keyId } = inbound.caller
  const { reviewId, full } = await deps.reviews.open({
    surface: 'answer',
    account,
    lineage,
    keyId,
    route: route.id,
    policy: evaluation.policy,
    canonical: Buffer.from(canonical),
    evaluation,
    context,
    history: asked(exchange)
  })
  exchange.reviewId = reviewId
  if (full !== undefined) return { ...denialOf(exchange, 'forbid', 'answer', content, evaluation), full }
  return denialOf(exchange, 'divert', 'answer', content, evaluation)
}
