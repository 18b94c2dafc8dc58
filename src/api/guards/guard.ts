/**
 * The common part of guardrail hooks for other gateways, which differ only in their shapes. A guard answers whether a
 * text may pass; the other gateway acts.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ChatContent, JsonObject } from '../../base/chat.js'
import { Fault } from '../../base/errors.js'
import { type Denial, occasionOf, refusalOf as reasonOf } from '../../dialects/denial.js'
import { dialects } from '../../dialects/index.js'
import { maxSessionId, sessionIdPattern } from '../../edge/evaluate-input.js'
import { callerOf } from '../../edge/facts.js'
import { canonicalJson } from '../../json/canonical.js'
import { textOfTurn, turnOf } from '../../policy/evaluate/session.js'
import type { Evaluation, Said, Speech } from '../../policy/evaluation.js'
import { openReview } from '../../review/open.js'
import type { ReviewService } from '../../review/review-service.js'
import type { Wording } from '../../wording/wording.js'
import type { Assessor } from '../assess.js'

export interface GuardDeps {
  assessor: Assessor
  reviews: Pick<ReviewService, 'open'>
  /** Chooses the texts for people. */
  speak: Wording['speak']
  /** Texts of the constitution that guards use. */
  speech(): Speech | undefined
}

/** A question of the other gateway. */
export interface Question {
  content: ChatContent
  direction: 'request' | 'answer'
  context?: JsonObject | undefined
  /** The peer's own name for the conversation; one that is no identifier here is left out. */
  session?: string | undefined
}

export interface Ruling {
  /** Undefined where the content cannot be judged at all. */
  evaluation: Evaluation | undefined
  refusal: Refusal | undefined
}

/** The reason why a text may not pass. */
export interface Refusal {
  status: number
  code: string
  /** A sentence for the end user, without any of the text. */
  message: string
  reviewId?: string
  /** The error that OpenAI's clients read. */
  body: JsonObject
}

export type Guard = (request: FastifyRequest, reply: FastifyReply, question: Question) => Promise<Ruling>

const [openai] = dialects['openai-chat']
const sessionId = new RegExp(sessionIdPattern)

/** @param route path of the endpoint */
export function createGuard({ assessor, reviews, speak, speech }: GuardDeps, route: string): Guard {
  return async (request, reply, { content, direction, context, session }) => {
    const { id: requestId } = request.sluicegate
    const [media] = content.media
    if (media !== undefined) {
      const fault = new Fault('unscannable_content', {
        message: `The ${direction} holds content that cannot be evaluated (${media.kind}).`,
        fields: { details: { pointer: media.pointer } }
      })
      return { evaluation: undefined, refusal: refusalOf(fault, requestId) }
    }
    const caller = callerOf(request)
    let turns: readonly Said[] | undefined
    const evaluation = await assessor.content(content, direction, {
      surface: 'guard',
      route,
      caller,
      requestId,
      context,
      session: isSession(session) ? `${caller.accountId}:${session}` : undefined,
      recalled: (before) => (turns = before),
      response: reply.raw
    })
    const { decision } = evaluation
    request.sluicegate.decision = decision
    if (decision === 'permit') return { evaluation, refusal: undefined }
    let reviewed: Pick<Denial, 'reviewId' | 'full'> = { reviewId: undefined }
    if (decision === 'divert') {
      const { reviewId, full } = await openReview(reviews, caller, {
        surface: 'evaluate',
        route,
        canonical: Buffer.from(canonicalJson((request.body ?? {}) as JsonObject)),
        evaluation,
        context,
        history: turns
      })
      reviewed = { reviewId, ...(full !== undefined && { full }) }
    }
    const outcome = reviewed.full === undefined ? decision : ('forbid' as const)
    const told = { decision: outcome, direction, full: reviewed.full }
    const wording = await speak(
      { occasion: occasionOf(told), evaluation, speech: speech(), reviewId: reviewed.reviewId },
      {
        texts: direction === 'request' ? [textOfTurn(content.parts, turnOf(content.parts))] : [],
        acceptLanguage: request.headers['accept-language']
      }
    )
    const denial: Denial = { ...reviewed, decision: outcome, direction, evaluation, pointer: undefined, wording }
    const { status, code } = reasonOf(denial)
    const refusal: Refusal = { status, code, message: wording.end_user.text, body: openai.denied(denial, requestId) }
    if (denial.reviewId !== undefined) refusal.reviewId = denial.reviewId
    return { evaluation, refusal }
  }
}

/** A fault as a refusal, for peers that treat any error as a permit. */
export function refusalOf(fault: Fault, requestId: string): Refusal {
  return { status: fault.status, code: fault.code, message: fault.message, body: openai.error(fault, requestId) }
}

/** Facts of a ruling that the peer may log or show: names, numbers and ids; never a text. */
export function factsOf({ evaluation, refusal }: Ruling): JsonObject {
  return {
    ...(refusal !== undefined && { code: refusal.code, message: refusal.message }),
    ...(refusal?.reviewId !== undefined && { review_id: refusal.reviewId }),
    ...(evaluation !== undefined && {
      decision: evaluation.decision,
      risk_score: evaluation.risk_score,
      matched_rules: evaluation.matched_rules,
      policy: evaluation.policy,
      evaluation_id: evaluation.evaluation_id,
      ...(evaluation.missing_context !== undefined && { missing_context: evaluation.missing_context })
    })
  }
}

function isSession(session: string | undefined): session is string {
  return session !== undefined && session !== '' && session.length <= maxSessionId && sessionId.test(session)
}
