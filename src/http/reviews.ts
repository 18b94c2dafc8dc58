/** The review queue over the API (CONTRACT section 5): a reviewer lists, reads and decides; the causing key polls. */
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Metrics } from '../observe/metrics.js'
import type { ReviewService } from '../review/review-service.js'
import { callerOf } from './facts.js'
import { Adjudicate, errorResponses, keyErrors, NoQuery, Page, Review, ReviewParams } from './schemas.js'

const ReviewPage = Type.Object(
  {
    ...Page.properties,
    status: Type.Optional(Type.Enum(['pending', 'permitted', 'forbidden', 'expired']))
  },
  { additionalProperties: false }
)

export function registerReviews(app: FastifyInstance, reviews: ReviewService, metrics: Metrics): void {
  app.route<{ Querystring: Static<typeof ReviewPage> }>({
    method: 'GET',
    url: '/api/v1/pdp/reviews',
    config: { access: { posture: 'key', scope: 'pdp:adjudicate', cost: 0 } },
    schema: {
      summary: 'List reviews',
      tags: ['reviews'],
      querystring: ReviewPage,
      response: {
        200: Type.Object({ reviews: Type.Array(Review), next_cursor: Type.Optional(Type.String()) }),
        ...errorResponses('validation_error', ...keyErrors)
      }
    },
    handler: (request) => reviews.list(callerOf(request), request.query)
  })

  app.route<{ Params: Static<typeof ReviewParams> }>({
    method: 'GET',
    url: '/api/v1/pdp/reviews/:review_id',
    // No scope here: the causing key reads its own status with safety:evaluate, so the service decides.
    config: { access: { posture: 'key', cost: 0 } },
    schema: {
      summary: 'Read a review; its status alone for the key that caused it',
      tags: ['reviews'],
      params: ReviewParams,
      querystring: NoQuery,
      response: { 200: Review, ...errorResponses(...keyErrors, 'not_found') }
    },
    handler: (request) => reviews.get(callerOf(request), request.params.review_id)
  })

  app.route<{ Body: Static<typeof Adjudicate> }>({
    method: 'POST',
    url: '/api/v1/pdp/adjudicate',
    config: { access: { posture: 'key', scope: 'pdp:adjudicate', cost: 0 } },
    schema: {
      summary: 'Decide a review',
      tags: ['reviews'],
      querystring: NoQuery,
      body: Adjudicate,
      response: {
        200: Review,
        ...errorResponses(
          'validation_error',
          ...keyErrors,
          'own_review',
          'not_found',
          'already_decided',
          'review_expired'
        )
      }
    },
    async handler(request) {
      const record = await reviews.adjudicate(callerOf(request), request.body)
      metrics.reviewOutcomes.inc({ decision: request.body.decision })
      return record
    }
  })
}
