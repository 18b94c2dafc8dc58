/**
 * `POST /api/v1/safety/evaluate` (docs/api.md, section 4): the decision point as an endpoint. It only decides; the
 * caller acts.
 */
import type { FastifyInstance } from 'fastify'
import type { JsonObject } from '../base/chat.js'
import { queueFull } from '../dialects/denial.js'
import { checkContextSize, EvaluateInput, namesOff } from '../edge/evaluate-input.js'
import { callerOf } from '../edge/facts.js'
import { EvaluateReply, errorResponses, judgedErrors, NoQuery } from '../edge/schemas.js'
import { canonicalJson } from '../json/canonical.js'
import type { Evaluation, Said } from '../policy/evaluation.js'
import { openReview } from '../review/open.js'
import type { ReviewService } from '../review/review-service.js'
import type { Assessor } from './assess.js'

export const evaluatePath = '/api/v1/safety/evaluate'

export interface EvaluateDeps {
  assessor: Assessor
  reviews: ReviewService
  /** Whether the configuration switches the encoder off, so that names cannot be requested. */
  isEncoderOff: boolean
}

export function registerEvaluate(app: FastifyInstance, { assessor, reviews, isEncoderOff }: EvaluateDeps): void {
  app.route<{ Body: EvaluateInput }>({
    method: 'POST',
    url: evaluatePath,
    config: { access: { posture: 'key', scope: 'safety:evaluate', cost: 1 } },
    schema: {
      operationId: 'evaluate',
      summary: 'Evaluate a text',
      tags: ['safety'],
      querystring: NoQuery,
      body: EvaluateInput,
      response: {
        200: EvaluateReply,
        ...errorResponses(...judgedErrors)
      }
    },
    async handler(request, reply) {
      const caller = callerOf(request)
      const { input_text, context, session_id, detect } = request.body
      checkContextSize(context)
      const names = detect?.includes('names') === true
      if (names && isEncoderOff) throw namesOff()
      let turns: readonly Said[] | undefined
      const evaluation = await assessor.text(input_text, {
        surface: 'evaluate',
        route: evaluatePath,
        caller,
        requestId: request.sluicegate.id,
        context,
        names,
        session: session_id === undefined ? undefined : `${caller.accountId}:${session_id}`,
        recalled: (before) => (turns = before),
        response: reply.raw
      })
      request.sluicegate.decision = evaluation.decision
      if (evaluation.decision !== 'divert') return { status: 'success', evaluation }
      const opened = await openReview(reviews, caller, {
        surface: 'evaluate',
        route: evaluatePath,
        canonical: Buffer.from(canonicalJson(request.body as JsonObject)),
        evaluation,
        history: turns
      })
      const review = opened.full === undefined ? { review_id: opened.reviewId } : { review_error: queueFull.code }
      return { status: 'success', evaluation: { ...evaluation, ...review } satisfies Evaluation }
    }
  })
}
