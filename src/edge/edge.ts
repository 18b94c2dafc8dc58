/**
 * The inbound edge that every route of the gateway shares, evaluate and chat alike: one spelling per path, one framing,
 * one admission, one JSON reader, one error table. Order as in docs/api.md, section 1: target, method and route → key →
 * address → scope → limit → content type and encoding → size → body. Overload refuses a request before its key is
 * checked, so that a refusal costs little and counts against no limit.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyContextConfig, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
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
import { nameRoutes } from './route-name.js'
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
  /** Is told of every request. */
  underWay: UnderWay
  /** JSON values of a body. Default: those of `defaultBudget`. */
  maxNodes?: number | undefined
  /** Object keys of a body. Default: as above. */
  maxParts?: number | undefined
  /** Admits people who are signed in; undefined: keys alone. */
  people?: PeopleAdmission | undefined
  /** Sheds load; undefined where nothing is judged. */
  overload?: Overload | undefined
  /** Path below the root to which a browser at the root is redirected; undefined: no redirect. */
  home?: string | undefined
  /**
   * The message of the root's 404: what this is, and where to go among what everybody may read. Default: as of any path.
   * @param mount the prefix of every served path
   */
  atRoot?: ((mount: string) => string) | undefined
  /** A fault in the shape that the clients of a path read. */
  shape: (path: string, fault: Fault, requestId: string) => ShapedFault
  /**
   * Answer for an unknown path that a client of a served API may have meant; undefined for any other path.
   * @param mount the prefix of every served path
   */
  explainUnknown?:
    | ((path: string, headers: IncomingHttpHeaders, requestId: string, mount: string) => ShapedFault | undefined)
    | undefined
}

export function registerEdge(app: FastifyInstance, deps: EdgeDeps): void {
  const { admission, clientAddress, clock, metrics, log, underWay } = deps
  const nextId = createRequestIds()
  const allowedMethods = methodsByPath(app)
  nameRoutes(app)
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

  // One hook for all three steps: each of its own would cost every request another round through the framework.
  app.addHook('onRequest', function begin(request, reply, next) {
    const { raw } = request
    // Read once: Fastify builds these objects at each access.
    const { config = {} as FastifyContextConfig, url = '' } = request.routeOptions
    const facts: RequestFacts = {
      id: nextId(),
      route: config.routeName ?? 'unmatched',
      address: clientAddress(raw.socket.remoteAddress ?? '', raw.headers['x-forwarded-for'] as string | undefined),
      started: clock.monotonic(),
      caller: undefined,
      signedIn: undefined,
      decision: undefined,
      upstream: undefined,
      isQuiet: false
    }
    request.sluicegate = facts
    underWay.begin(raw, reply.raw)
    reply.header('x-request-id', facts.id)
    const fault = checkTarget(raw, reply, config)
    if (fault !== undefined) next(fault)
    else if (deps.overload === undefined || config.isLoad !== true) admitCaller(request, reply, config, next)
    else {
      deps.overload.await(raw, { url, name: facts.route }, (refusal) => {
        if (refusal === undefined) admitCaller(request, reply, config, next)
        else next(refusal)
      })
    }
  })

  function checkTarget(raw: IncomingMessage, reply: FastifyReply, { reads }: FastifyContextConfig): Fault | undefined {
    // Without a body its content type means nothing (`curl -d ''` names a form): so no parser is chosen by it.
    if (!hasBody(raw)) delete raw.headers['content-type']
    const framing = checkFraming(raw)
    if (framing !== undefined) reply.header('connection', 'close')
    const target = canonicalTarget(
      raw.url ?? '',
      folder,
      reads && ((path) => reads(withoutMount(app, path)) !== undefined)
    )
    return target instanceof Fault ? target : framing
  }

  function admitCaller(
    request: FastifyRequest,
    reply: FastifyReply,
    { access, takes }: FastifyContextConfig,
    next: (fault?: Error) => void
  ): void {
    const { raw, sluicegate: facts } = request
    // Checked before the body: on an unknown path, no size, type or coding of it can be wrong.
    if (request.is404) {
      answerUnknown(request, reply)
      return
    }
    // A route that declares no access is a mistake that must not open a door.
    if (access === undefined) {
      next(new Fault('not_found'))
      return
    }
    if (access.posture === 'public') {
      next()
      return
    }
    deps.tracing?.begin(facts.id, request.method, facts.route, raw.headers)
    if ('key' in (request.query as Record<string, unknown>)) {
      next(keyInQuery(access))
      return
    }
    if (deps.people?.presents(raw, access)) {
      deps.people.admit(raw, access).then((signedIn) => {
        if (signedIn instanceof Fault) return next(signedIn)
        Object.assign(facts, { signedIn, caller: signedIn.caller })
        next(checkBodyHeaders(raw, takes))
      }, next)
      return
    }
    const finish = (outcome: Awaited<ReturnType<Admission['admit']>>) => {
      if (outcome instanceof Fault) return next(outcome)
      facts.caller = outcome.caller
      if (outcome.limit !== undefined) reply.headers(limitHeaders(outcome.limit))
      next(checkBodyHeaders(raw, takes))
    }
    const outcome = admission.admit({
      headers: raw.headers,
      address: facts.address,
      scope: access.scope,
      cost: access.cost ?? 0,
      keyHeaders: access.keyHeaders,
      onPlace: takesPlace(access) ? (letGo) => underWay.whenOver(reply.raw, letGo) : undefined
    })
    if (outcome instanceof Promise) outcome.then(finish, next)
    else finish(outcome)
  }

  // A validator is given null for no body, as for a body of null.
  app.addHook('preValidation', function requireBody(request, _reply, next) {
    const isMissing = request.body === undefined && request.routeOptions.schema?.body !== undefined
    next(isMissing ? bodyMissing() : undefined)
  })

  app.addHook('onResponse', function countResponse(request, reply, next) {
    const status = reply.statusCode
    const { id, route, started, decision, isQuiet } = request.sluicegate
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
    // Successes are logged for debugging, refusals for the operator.
    if (isQuiet) log.debug(line, 'request')
    else if (status >= 500) log.error(line, 'request')
    else if (status >= 400 || (decision !== undefined && decision !== 'permit')) log.info(line, 'request')
    else log.debug(line, 'request')
    next()
  })

  app.setErrorHandler(function answerError(error, request, reply) {
    const fault = toFault(error as FastifyError, deps.bodyLimit)
    const isQuiet = deps.overload?.isOwn(fault) === true
    request.sluicegate.isQuiet = isQuiet
    if (fault.status >= 500 && !isQuiet)
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
    const message = isRoot(path, mount) ? deps.atRoot?.(mount) : undefined
    const fault =
      allow === undefined
        ? new Fault('not_found', message === undefined ? {} : { message })
        : new Fault('method_not_allowed', { headers: { allow } })
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

function keyInQuery({ keyHeaders = [] }: Access): Fault {
  const message = `Keys are not taken from the query string: send ${['X-API-Key', ...keyHeaders].join(', ')} or Authorization: Bearer.`
  return invalid('query.key', 'unknown_field', message)
}

/**
 * A person who typed the address and wants a page. Programs that ask for the root get a 404, as on every unknown path.
 */
function isBrowserAtRoot({ method, headers }: FastifyRequest, path: string | undefined, mount: string): boolean {
  return method === 'GET' && isRoot(path, mount) && headers.accept?.includes('text/html') === true
}

function isRoot(path: string | undefined, mount: string): boolean {
  return path === (mount === '' ? '/' : mount)
}

/** A request that is judged or forwarded counts as concurrent for its key; management stays possible under any load. */
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
