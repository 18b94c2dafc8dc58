/**
 * The review queue over the API (docs/api.md, section 5): a reviewer lists, claims, reads and decides; the causing
 * key polls.
 */
import type { FastifyInstance } from 'fastify'
import type { Static } from 'typebox'
import { callerOf, managed } from '../edge/facts.js'
import { errorResponses, managedErrors, NoQuery } from '../edge/schemas.js'
import type { Metrics } from '../observe/metrics.js'
import type { Adjudication } from '../review/adjudication.js'
import type { Deliveries } from '../review/deliveries.js'
import type { ReviewService } from '../review/review-service.js'
import {
  Adjudicate,
  Delivery,
  DeliveryList,
  DeliveryParams,
  DeliveryQuery,
  Review,
  ReviewDetail,
  ReviewList,
  ReviewParams,
  ReviewQuery,
  ReviewReply
} from './review-schemas.js'

const path = '/api/v1/pdp'
const tags = ['reviews']
const config = { access: managed('pdp:adjudicate') }
const closedErrors = ['own_review', 'not_found', 'already_decided', 'review_expired', 'review_claimed'] as const

type OfReview = { Params: Static<typeof ReviewParams> }

export interface ReviewsDeps {
  reviews: ReviewService
  adjudication: Adjudication
  deliveries: Deliveries
}

export function registerReviews(
  app: FastifyInstance,
  { reviews, adjudication, deliveries }: ReviewsDeps,
  metrics: Metrics
): void {
  app.route<{ Querystring: Static<typeof ReviewQuery> }>({
    method: 'GET',
    url: `${path}/reviews`,
    config,
    schema: {
      operationId: 'listReviews',
      summary: 'List reviews, without texts',
      tags,
      querystring: ReviewQuery,
      response: {
        200: ReviewList,
        ...errorResponses('validation_error', ...managedErrors)
      }
    },
    handler: (request) => reviews.list(callerOf(request), request.query)
  })

  app.route<OfReview>({
    method: 'GET',
    url: `${path}/reviews/:review_id`,
    // No scope here: the causing key reads its own status with safety:evaluate, so the service decides.
    config: { access: managed() },
    schema: {
      operationId: 'getReview',
      summary: 'Read a review; its status alone for the key that caused it',
      tags,
      params: ReviewParams,
      querystring: NoQuery,
      response: { 200: ReviewReply, ...errorResponses('validation_error', ...managedErrors, 'not_found') }
    },
    handler: (request) => reviews.get(callerOf(request), request.params.review_id)
  })

  app.route<OfReview>({
    method: 'POST',
    url: `${path}/reviews/:review_id/claim`,
    config,
    schema: {
      operationId: 'claimReview',
      summary: 'Take a review before oneself for a while; again, for longer',
      tags,
      params: ReviewParams,
      querystring: NoQuery,
      response: { 200: Review, ...errorResponses(...managedErrors, ...closedErrors) }
    },
    handler: (request) => adjudication.claim(callerOf(request), request.params.review_id)
  })

  app.route<OfReview>({
    method: 'DELETE',
    url: `${path}/reviews/:review_id/claim`,
    config,
    schema: {
      operationId: 'releaseReview',
      summary: 'Give a review back',
      tags,
      params: ReviewParams,
      querystring: NoQuery,
      response: { 200: Review, ...errorResponses(...managedErrors, 'not_found') }
    },
    handler: (request) => adjudication.release(callerOf(request), request.params.review_id)
  })

  app.route<{ Body: Static<typeof Adjudicate> }>({
    method: 'POST',
    url: `${path}/adjudicate`,
    config,
    schema: {
      operationId: 'decideReview',
      summary: 'Decide a review',
      description:
        'With review.two_person, a first permit leaves the review pending, with approved_by, and a second person permits it; one person forbids.',
      tags,
      querystring: NoQuery,
      body: Adjudicate,
      response: {
        200: ReviewDetail,
        ...errorResponses(
          'validation_error',
          ...managedErrors,
          ...closedErrors,
          'second_person_required',
          'already_approved'
        )
      }
    },
    async handler(request) {
      const record = await adjudication.adjudicate(callerOf(request), request.body)
      if (record.status !== 'pending') metrics.reviewOutcomes.inc({ decision: request.body.decision })
      return record
    }
  })

  app.route<{ Querystring: Static<typeof DeliveryQuery> }>({
    method: 'GET',
    url: `${path}/deliveries`,
    config,
    schema: {
      operationId: 'listDeliveries',
      summary: 'Messages to webhooks and by e-mail that are not delivered yet, dead letters included',
      tags,
      querystring: DeliveryQuery,
      response: {
        200: DeliveryList,
        ...errorResponses('validation_error', ...managedErrors)
      }
    },
    handler: (request) => deliveries.list(callerOf(request), request.query)
  })

  app.route<{ Params: Static<typeof DeliveryParams> }>({
    method: 'POST',
    url: `${path}/deliveries/:delivery_id/retry`,
    config,
    schema: {
      operationId: 'retryDelivery',
      summary: 'Try a dead letter again',
      tags,
      params: DeliveryParams,
      querystring: NoQuery,
      response: { 200: Delivery, ...errorResponses(...managedErrors, 'not_found') }
    },
    handler: (request) => deliveries.retry(callerOf(request), request.params.delivery_id)
  })
}
