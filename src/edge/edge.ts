/**
 * The inbound edge that every route of the gateway shares, evaluate and chat alike: one spelling per path, one framing,
 * one admission, one JSON reader, one error table. Order as in docs/api.md, section 1: target, method and route → key →
 * address → scope → limit → content type and encoding → size → body. Under overload what may be refused is refused
 * before its key is looked at, so that a refusal costs little and counts against no limit.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Json } from '../base/chat.js'
import type { Clock } from '../base/clock.js'
import { Fault, invalid } from '../base/errors.js'
import type { Admission } from '../identity/admission.js'
import { type JsonLimits, parseJson } from '../json/parse.js'
import { limitHeaders } from '../limits/fault.js'
import { describeError, type Log } from '../observe/log.js'
import { type Metrics, statusClass } from '../observe/metrics.js'
import type { Tracing } from '../observe/tracing.js'
import { bodyMissing, checkBodyHeaders, decodeBody, hasBody } from './body.js'
import type { Access, RequestFacts } from './facts.js'
import { plainFault, type ShapedFault, sendFault, toFault } from './faults.js'
import { largeTurns } from './large-turns.js'
import { methodsByPath } from './methods.js'
import { mountOf, withoutMount } from './mount.js'
import type { Overload } from './overload.js'
import type { PeopleAdmission } from './person-admission.js'
import { createRequestIds } from './request-id.js'
import { canonicalTarget, checkFraming } from './target.js'
import type { UnderWay } from './under-way.js'
import { compileValidator, type Place } from './validate.js'

/** Where the dashboard is served. */
export const dashboardPath = '/dashboard'

export interface EdgeDeps {
  admission: Admission
  /** Client address from the socket's peer and the forwarded header, by the trusted proxies. */
  clientAddress: (peer: string, forwardedFor: string | undefined) => string
  clock: Clock
  metrics: Pick<Metrics, 'requests'>
  log: Log
  /** Undefined where there are no traces. */
  tracing?: Tracing | undefined
  bodyLimit: number
  /** Told of every request. */
  underWay: UnderWay
  /** JSON values of a body. Default: those of `defaultBudget`. */
  maxNodes?: number | undefined
  /** Texts of a body, as far as they are keys. Default: as above. */
  maxParts?: number | undefined
  /** Admits people who are signed in; undefined: keys alone. */
  people?: PeopleAdmission | undefined
  /** Refuses what is too much to do; undefined where nothing is judged. */
  overload?: Overload | undefined
  /** Where a browser that comes to the root is led, below the root; undefined: nothing is there for it. */
  home?: string | undefined
  /** A fault in the shape that the clients of a path read. */
  shape: (path: string, fault: Fault, requestId: string) => ShapedFault
  /**
   * What is said of a path of no route that a client of a served API may have meant; undefined where it is none.
   * @param mount what stands before every path that is served
   */
  explainUnknown?:
    | ((path: string, headers: IncomingHttpHeaders, requestId: string, mount: string) => ShapedFault | undefined)
    | undefined
}

export function registerEdge(app: FastifyInstance, deps: EdgeDeps): void {
  const { admission, clientAddress, clock, metrics, log, underWay } = deps
  const nextId = createRequestIds()
  const allowedMethods = methodsByPath(app)
  const mount = mountOf(app)
  const folder = `${mount}${dashboardPath}/`

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
    jsonBodyParser(deps.bodyLimit, { nodes: deps.maxNodes, keys: deps.maxParts })
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
      signedIn: undefined,
      decision: undefined,
      upstream: undefined,
      isShed: false
    }
    request.sluicegate = facts
    underWay.begin(request.raw, reply.raw)
    reply.header('x-request-id', facts.id)
    // What describes a body describes nothing where none comes (`curl -d ''` names a form): no reader is looked for.
    if (!hasBody(request.raw)) delete request.raw.headers['content-type']
    const framing = checkFraming(request.raw)
    if (framing !== undefined) reply.header('connection', 'close')
    const { reads } = request.routeOptions.config ?? {}
    const target = canonicalTarget(
      request.raw.url ?? '',
      folder,
      reads && ((path) => reads(withoutMount(app, path)) !== undefined)
    )
    next(target instanceof Fault ? target : framing)
  })

  app.addHook('onRequest', function awaitTurn(request, _reply, next) {
    if (deps.overload === undefined || request.routeOptions.config?.isLoad !== true) return next()
    deps.overload.await(request, next)
  })

  app.addHook('onRequest', function admitCaller(request, reply, next) {
    const { access, takes } = request.routeOptions.config ?? {}
    // Before its body is looked at: what nothing is at has no size, type or coding to be wrong.
    if (request.is404) return answerUnknown(request, reply)
    // A route that declares no access is a mistake that must not open a door.
    if (access === undefined) return next(new Fault('not_found'))
    if (access.posture === 'public') return next()
    deps.tracing?.begin(request.sluicegate.id, request.method, request.routeOptions.url ?? '', request.raw.headers)
    if ('key' in (request.query as Record<string, unknown>)) {
      return next(
        invalid(
          'query.key',
          'unknown_field',
          `Keys are not taken from the query string: send ${['X-API-Key', ...(access.keyHeaders ?? [])].join(', ')} or Authorization: Bearer.`
        )
      )
    }
    if (deps.people?.presents(request.raw, access)) {
      deps.people.admit(request.raw, access).then((signedIn) => {
        if (signedIn instanceof Fault) return next(signedIn)
        Object.assign(request.sluicegate, { signedIn, caller: signedIn.caller })
        next(checkBodyHeaders(request.raw, takes))
      }, next)
      return
    }
    const finish = (outcome: Awaited<ReturnType<Admission['admit']>>) => {
      if (outcome instanceof Fault) return next(outcome)
      request.sluicegate.caller = outcome.caller
      if (outcome.limit !== undefined) reply.headers(limitHeaders(outcome.limit))
      next(checkBodyHeaders(request.raw, takes))
    }
    const outcome = admission.admit({
      headers: request.raw.headers,
      address: request.sluicegate.address,
      scope: access.scope,
      cost: access.cost ?? 0,
      keyHeaders: access.keyHeaders,
      onPlace: takesPlace(access) ? (letGo) => underWay.whenOver(reply.raw, letGo) : undefined
    })
    if (outcome instanceof Promise) outcome.then(finish, next)
    else finish(outcome)
  })

  // A validator is given null for no body, as for a body of null.
  app.addHook('preValidation', function requireBody(request, _reply, next) {
    const isMissing = request.body === undefined && request.routeOptions.schema?.body !== undefined
    next(isMissing ? bodyMissing() : undefined)
  })

  app.addHook('onResponse', function countResponse(request, reply, next) {
    const route = request.is404 ? 'unmatched' : (request.routeOptions.url ?? 'unmatched')
    const status = reply.statusCode
    const { id, started, decision, isShed } = request.sluicegate
    metrics.requests.of(route, statusClass(status)).inc()
    deps.tracing?.end(id, status)
    const line = {
      request_id: id,
      method: request.method,
      route,
      status,
      ms: Math.round((clock.monotonic() - started) * 1000) / 1000,
      decision
    }
    // What went well is for debugging; what was refused is for the operator.
    if (isShed) log.debug(line, 'request')
    else if (status >= 500) log.error(line, 'request')
    else if (status >= 400 || (decision !== undefined && decision !== 'permit')) log.info(line, 'request')
    else log.debug(line, 'request')
    next()
  })

  app.setErrorHandler(function answerError(error, request, reply) {
    const fault = toFault(error as FastifyError, deps.bodyLimit)
    const isShed = deps.overload?.isOwn(fault) === true
    request.sluicegate.isShed = isShed
    if (fault.status >= 500 && !isShed)
      log.error({ request_id: request.sluicegate.id, err: describeError(fault) }, fault.code)
    answer(reply, request.routeOptions.url, fault, request.sluicegate.id)
  })

  app.setNotFoundHandler(answerUnknown)

  function answerUnknown(request: FastifyRequest, reply: FastifyReply): void {
    const target = canonicalTarget(request.raw.url ?? '', folder)
    const path = target instanceof Fault ? undefined : target
    if (deps.home !== undefined && isBrowserAtRoot(request, path, mount)) {
      // Relative, so that it holds behind a proxy that takes a prefix off.
      const location = `${mount.slice(mount.lastIndexOf('/') + 1)}/${deps.home}`.replace(/^\//, '')
      void reply.headers({ location, vary: 'accept', 'cache-control': 'no-store' }).code(302).send()
      return
    }
    const allow = path === undefined ? undefined : allowedMethods(path)
    const fault = allow === undefined ? new Fault('not_found') : new Fault('method_not_allowed', { headers: { allow } })
    const { id } = request.sluicegate
    const reason =
      path === undefined || allow !== undefined
        ? undefined
        : deps.explainUnknown?.(withoutMount(app, path), request.raw.headers, id, mount)
    if (reason !== undefined) sendFault(reply, reason)
    else answer(reply, path, fault, id)
  }

  /** In the shape that the clients of a path read. */
  function answer(reply: FastifyReply, path: string | undefined, fault: Fault, id: string): void {
    sendFault(reply, path === undefined ? plainFault(fault, id) : deps.shape(withoutMount(app, path), fault, id))
  }
}

/** Somebody who typed the address, and wants a page. Programs that ask at the root get what every unknown path gets. */
function isBrowserAtRoot({ method, headers }: FastifyRequest, path: string | undefined, mount: string): boolean {
  return method === 'GET' && path === (mount === '' ? '/' : mount) && headers.accept?.includes('text/html') === true
}

/** What is judged or goes to an upstream takes one of the key's places; management stays possible whatever is under way. */
function takesPlace({ posture, cost = 0 }: Access): boolean {
  return posture === 'guarded' || posture === 'pass' || cost > 0
}

function placeOf(httpPart: string | undefined): Place {
  return httpPart === 'querystring' ? 'query' : httpPart === 'params' ? 'params' : 'body'
}

/** Takes the coding off, reads strictly; an empty body is no body. */
function jsonBodyParser(limit: number, limits: JsonLimits) {
  const read = (decoded: Buffer): Json | undefined => (decoded.length === 0 ? undefined : parseJson(decoded, limits))
  return function readJsonBody(
    request: FastifyRequest,
    bytes: Buffer,
    done: (error: Error | null, body?: unknown) => void
  ): void {
    try {
      const decoded = decodeBody(bytes, request.headers['content-encoding'], limit)
      const whose = request.sluicegate.caller?.lineage ?? ''
      if (decoded instanceof Promise) {
        decoded
          .then(async (bytes) => {
            await largeTurns.take(whose, bytes.length)
            return read(bytes)
          })
          .then((body) => done(null, body), done)
        return
      }
      const turn = largeTurns.take(whose, decoded.length)
      if (turn === undefined) done(null, read(decoded))
      else turn.then(() => read(decoded)).then((body) => done(null, body), done)
    } catch (error) {
      done(error as Error)
    }
  }
}
