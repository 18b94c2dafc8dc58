/**
 * The exceptions API: the affected caller proposes an exception to a wrong decision, and a person responsible for the
 * policy decides.
 */
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { nameSchemas } from '../edge/doc-names.js'
import { callerOf, managed } from '../edge/facts.js'
import { errorResponses, managedErrors, NoQuery, Page } from '../edge/schemas.js'
import type { ExceptionService } from '../review/exception-service.js'
import { exceptionStates } from '../storage/contracts/reviews.js'

const tags = ['exceptions']
const closed = { additionalProperties: false }
const path = '/api/v1/safety/exceptions'
const time = Type.String({ format: 'date-time' })
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()])

const Feedback = Type.Object(
  {
    evaluation_id: Type.String({ pattern: '^ev_[0-9A-Za-z]{1,40}$' }),
    note: Type.Optional(Type.String({ maxLength: 2000, description: 'Stored encrypted.' }))
  },
  closed
)
const Decide = Type.Object(
  {
    decision: Type.Enum(['accept', 'reject']),
    scope: Type.Optional(
      Type.Enum(['key', 'account'], {
        description: 'Valid for the affected client, or for its whole account. Default key.'
      })
    ),
    expires_in: Type.Optional(
      Type.String({ maxLength: 20, description: 'At most 366d. Default 30d.', examples: ['7d'] })
    )
  },
  closed
)
const Query = Type.Object({ ...Page.properties, state: Type.Optional(Type.Enum([...exceptionStates])) }, closed)
const Params = Type.Object({ exception_id: Type.String({ pattern: '^exc_[0-9A-Za-z]{1,40}$' }) })
const Exception = Type.Object({
  exception_id: Type.String(),
  state: Type.Enum([...exceptionStates, 'expired']),
  evaluation_id: Type.String(),
  account: Type.String(),
  policy: Type.String(),
  rules: Type.Array(Type.String()),
  scope: Type.Enum(['key', 'account']),
  key_id: Type.String(),
  note: orNull(Type.String()),
  proposed_by: Type.String(),
  proposed_at: time,
  decided_by: orNull(Type.String()),
  decided_at: orNull(time),
  expires_at: orNull(time)
})

const ExceptionList = Type.Object({ exceptions: Type.Array(Exception), next_cursor: Type.Optional(Type.String()) })
nameSchemas({
  Exception,
  ExceptionList,
  FeedbackRequest: Feedback,
  DecideExceptionRequest: Decide
})

type OfException = { Params: Static<typeof Params> }

export function registerExceptions(app: FastifyInstance, exceptions: ExceptionService): void {
  app.route<{ Body: Static<typeof Feedback> }>({
    method: 'POST',
    url: '/api/v1/safety/feedback',
    config: { access: managed() },
    schema: {
      operationId: 'sendFeedback',
      summary: 'Say that a decision was wrong: proposes an exception',
      description:
        'By the affected key, or by a caller who may review or write constitutions. A proposal alone has no effect.',
      tags,
      querystring: NoQuery,
      body: Feedback,
      response: { 200: Exception, 201: Exception, ...errorResponses('validation_error', ...managedErrors, 'not_found') }
    },
    async handler(request, reply) {
      const { created, record } = await exceptions.propose(callerOf(request), request.body)
      return reply.code(created ? 201 : 200).send(record)
    }
  })

  app.route<{ Querystring: Static<typeof Query> }>({
    method: 'GET',
    url: path,
    config: { access: managed('constitutions:read') },
    schema: {
      operationId: 'listExceptions',
      summary: 'List exceptions, newest first',
      tags,
      querystring: Query,
      response: {
        200: ExceptionList,
        ...errorResponses('validation_error', ...managedErrors, 'not_found')
      }
    },
    handler: (request) => exceptions.list(callerOf(request), request.query)
  })

  app.route<OfException & { Body: Static<typeof Decide> }>({
    method: 'POST',
    url: `${path}/:exception_id/decide`,
    config: { access: managed('constitutions:write', { confirmed: true }) },
    schema: {
      operationId: 'decideException',
      summary: 'Accept a proposal for a while, or reject it',
      description: 'Accepted, the rules do not count for that very text; their matches are still shown and counted.',
      tags,
      params: Params,
      querystring: NoQuery,
      body: Decide,
      response: {
        200: Exception,
        ...errorResponses(
          'validation_error',
          ...managedErrors,
          'confirmation_required',
          'own_review',
          'not_found',
          'already_decided'
        )
      }
    },
    handler: (request) => exceptions.decide(callerOf(request), request.params.exception_id, request.body)
  })

  app.route<OfException>({
    method: 'DELETE',
    url: `${path}/:exception_id`,
    config: { access: managed('constitutions:write') },
    schema: {
      operationId: 'endException',
      summary: 'End an accepted exception at once',
      tags,
      params: Params,
      querystring: NoQuery,
      response: { 200: Exception, ...errorResponses(...managedErrors, 'not_found', 'already_decided') }
    },
    handler: (request) => exceptions.revoke(callerOf(request), request.params.exception_id)
  })
}
