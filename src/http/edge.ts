/**
 * The inbound edge that every route of the gateway shares, evaluate and chat alike: one spelling per path, one framing,
 * one admission, one JSON reader, one error table. Order as in CONTRACT section 2: target, method and route → key →
 * address → scope → limit → content type and encoding → size → body.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { checkBodyHeaders, decodeBody, payloadTooLarge } from '../body.js'
import type { Json } from '../chat.js'
import type { Clock } from '../clock.js'
import { Fault, invalid } from '../errors.js'
import type { Admission } from '../identity/admission.js'
import { parseJson } from '../json/parse.js'
import { describeError, type Log } from '../observe/log.js'
import { type Metrics, statusClass } from '../observe/metrics.js'
import type { RequestFacts } from './facts.js'
import { methodsByPath } from './methods.js'
import { createRequestIds } from './request-id.js'
import { canonicalTarget, checkFraming } from './target.js'
import { compileValidator, type Place } from './validate.js'

export interface EdgeDeps {
  admission: Admission
  /** Client address from the socket's peer and the forwarded header, by the trusted proxies. */
  clientAddress: (peer: string, forwardedFor: string | undefined) => string
  clock: Clock
  metrics: Metrics
  log: Log
  bodyLimit: number
}

export function registerEdge(app: FastifyInstance, deps: EdgeDeps): void {
  const { admission, clientAddress, clock, metrics, log } = deps
  const nextId = createRequestIds()
  const allowedMethods = methodsByPath(app)

  app.decorateRequest('sluicegate', null as unknown as RequestFacts)
  app.setValidatorCompiler(({ schema, httpPart }) => {
    const validate = compileValidator(schema as object, placeOf(httpPart))
    return (value) => {
      const error = validate(value)
      return error === undefined ? true : { error }
    }
  })
  // Replies are written as they are built: a serialiser that drops unknown fields would hide a difference from the schema.
  app.setSerializerCompiler(() => JSON.stringify)

  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: deps.bodyLimit },
    jsonBodyParser(deps.bodyLimit)
  )

  app.addHook('onRequest', function checkTarget(request, reply, next) {
    const facts: RequestFacts = {
      id: nextId(),
      address: clientAddress(
        request.raw.socket.remoteAddress ?? '',
        request.raw.headers['x-forwarded-for'] as string | undefined
      ),
      started: clock.monotonic(),
      caller: undefined,
      decision: undefined
    }
    request.sluicegate = facts
    reply.header('x-request-id', facts.id)
    const target = canonicalTarget(request.raw.url ?? '')
    if (target instanceof Fault) return next(target)
    const framing = checkFraming(request.raw)
    if (framing !== undefined) {
      reply.header('connection', 'close')
      return next(framing)
    }
    next()
  })

  app.addHook('onRequest', function admitCaller(request, reply, next) {
    const access = request.routeOptions.config?.access
    // A route that declares no access is our 404 handler, or a mistake that must not open a door.
    if (access === undefined) return next(request.is404 ? undefined : new Fault('not_found'))
    if (access.posture === 'public') return next()
    if ('key' in (request.query as Record<string, unknown>)) {
      return next(
        invalid(
          'query.key',
          'unknown_field',
          'Keys are not taken from the query string: send X-API-Key or Authorization: Bearer.'
        )
      )
    }
    const finish = (outcome: Awaited<ReturnType<Admission['admit']>>) => {
      if (outcome instanceof Fault) return next(outcome)
      request.sluicegate.caller = outcome.caller
      if (outcome.limit !== undefined) setLimitHeaders(reply, outcome.limit)
      next(checkBodyHeaders(request.raw.headers))
    }
    const outcome = admission.admit({
      headers: request.raw.headers,
      address: request.sluicegate.address,
      scope: access.scope,
      cost: access.cost ?? 0,
      keyHeaders: access.keyHeaders
    })
    if (outcome instanceof Promise) outcome.then(finish, next)
    else finish(outcome)
  })

  app.addHook('onResponse', function countResponse(request, reply, next) {
    const route = request.is404 ? 'unmatched' : (request.routeOptions.url ?? 'unmatched')
    const status = reply.statusCode
    const { id, started, decision } = request.sluicegate
    metrics.requests.of(route, statusClass(status)).inc()
    const line = {
      request_id: id,
      method: request.method,
      route,
      status,
      ms: Math.round((clock.monotonic() - started) * 1000) / 1000,
      decision
    }
    // What went well is for debugging; what was refused is for the operator.
    if (status >= 500) log.error(line, 'request')
    else if (status >= 400 || (decision !== undefined && decision !== 'permit')) log.info(line, 'request')
    else log.debug(line, 'request')
    next()
  })

  app.setErrorHandler(function answerError(error, request, reply) {
    const fault = toFault(error as FastifyError, deps.bodyLimit)
    if (fault.status >= 500)
      log.error({ request_id: request.sluicegate?.id, err: describeError(fault.cause ?? fault) }, fault.code)
    sendFault(reply, fault, request)
  })

  app.setNotFoundHandler(function answerUnknown(request, reply) {
    const target = canonicalTarget(request.raw.url ?? '')
    const allow = target instanceof Fault ? undefined : allowedMethods(target)
    const fault = allow === undefined ? new Fault('not_found') : new Fault('method_not_allowed', { headers: { allow } })
    sendFault(reply, fault, request)
  })
}

function placeOf(httpPart: string | undefined): Place {
  return httpPart === 'querystring' ? 'query' : httpPart === 'params' ? 'params' : 'body'
}

/** Takes the coding off, reads strictly; an empty body is no body. */
function jsonBodyParser(limit: number) {
  const read = (decoded: Buffer): Json | undefined => (decoded.length === 0 ? undefined : parseJson(decoded))
  return function readJsonBody(
    request: FastifyRequest,
    bytes: Buffer,
    done: (error: Error | null, body?: unknown) => void
  ): void {
    try {
      const decoded = decodeBody(bytes, request.headers['content-encoding'], limit)
      if (decoded instanceof Promise) decoded.then(read).then((body) => done(null, body), done)
      else done(null, read(decoded))
    } catch (error) {
      done(error as Error)
    }
  }
}

export function setLimitHeaders(reply: FastifyReply, limit: { limit: number; remaining: number; reset: number }): void {
  reply.header('x-ratelimit-limit', limit.limit)
  reply.header('x-ratelimit-remaining', limit.remaining)
  reply.header('x-ratelimit-reset', limit.reset)
}

/** The error body of the specification, section 7: the code, the sentence, the code's own fields, the request id. */
export function sendFault(reply: FastifyReply, fault: Fault, request: FastifyRequest): void {
  reply
    .code(fault.status)
    .headers(fault.headers)
    .type('application/json; charset=utf-8')
    .send(
      JSON.stringify({ error: fault.code, message: fault.message, ...fault.fields, request_id: request.sluicegate?.id })
    )
}

/** Fastify's and Node's own errors in the terms of the contract; anything unknown is internal and says nothing of itself. */
export function toFault(error: FastifyError, bodyLimit: number): Fault {
  if (error instanceof Fault) return error
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return payloadTooLarge(bodyLimit)
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Fault('unsupported_media_type')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalid('content-length', 'invalid_format', 'The body does not have the announced length.')
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_NOT_FOUND':
      return new Fault('not_found')
    case 'ECONNRESET':
    case 'ABORT_ERR':
      return invalid('', 'malformed_json', 'The body ended before it was complete.')
    default:
      return new Fault('internal_error', { cause: error })
  }
}
