/** The parts of the OpenAPI document that all routes of a kind share: statuses, headers and errors. */
import type { ErrorCode } from '../base/errors.js'
import { errorTable } from '../base/errors.js'
import { denialTable, queueFull } from '../dialects/denial.js'
import { type ErrorEnvelope, errorEnvelopes, ownErrors } from './doc-errors.js'
import { answerHeaders, chatHeaders, idempotencyKey, securityOf } from './doc-headers.js'
import type { Access } from './facts.js'
import { bodyErrors, type ErrorAnswer, errorResponses, judgedErrors, keyErrors } from './schemas.js'
import { mayHaveBody } from './target.js'

/** Facts about a route that only the document needs, and that its schema has no place for. */
export interface Described {
  operationId?: string
  summary?: string
  description?: string
  tags?: readonly string[]
  params?: object
  querystring?: object
  body?: object
  /** Media types of the body. Default: JSON. */
  consumes?: readonly string[]
  response?: Readonly<Record<string, object>>
  /** Whether it answers nothing but `response`. */
  answersNoMore?: boolean
  /** Shape of its errors; undefined: our own. */
  envelope?: ErrorEnvelope
  hide?: boolean
}

declare module 'fastify' {
  interface FastifyContextConfig {
    described?: Described
    /** The path in the document, where one entry stands for many. */
    describedPath?: string
    takesIdempotencyKey?: boolean
  }
}

/** Refusals of a chat, in the shapes that its API publishes. */
export const chatRefusals = refusalsOf([...judgedErrors, 'unscannable_content'])

/** Refusals of a request without a body. */
const bodilessRefusals = refusalsOf(
  judgedErrors.filter((code) => code === 'validation_error' || !bodyErrors.includes(code))
)

const upstreamAnswers = {
  ...errorResponses('upstream_error', 'upstream_timeout'),
  default: { description: "The upstream's own answer" }
}

/** Refusals by a verdict, and by the checks before one. */
function refusalsOf(codes: readonly ErrorCode[]): Record<string, { description: string; codes: readonly string[] }> {
  const verdicts = [...Object.values(denialTable), queueFull]
  const all = [...verdicts, ...codes.map((code) => ({ code, status: errorTable[code].status }))]
  const byStatus: Record<string, { description: string; codes: readonly string[] }> = {}
  for (const { status } of all) {
    const here = all.filter((error) => error.status === status).map(({ code }) => code)
    byStatus[status] = { description: here.join(', '), codes: here }
  }
  return byStatus
}

interface Route {
  /** Upper case. */
  methods: readonly string[]
  access?: Access | undefined
  described?: Described | undefined
  takesIdempotencyKey?: boolean | undefined
}

/**
 * @param schema that validates; it is not touched
 * @returns the schema for the document
 */
export function describeRoute(schema: object | undefined, route: Route): object {
  const { access = {}, described, methods } = route
  const { posture } = access as Partial<Access>
  const { response: own, answersNoMore, envelope, ...rest } = { ...(schema as Described | undefined), ...described }
  const answers = {
    ...(answersNoMore !== true && {
      // A query is read strictly.
      ...(rest.querystring !== undefined && errorResponses('validation_error')),
      ...commonAnswers(posture, methods.some(mayHaveBody))
    }),
    ...(own ?? { 200: { description: 'OK' } })
  }
  const response = Object.entries(answers).map(([status, answer]) => [status, describeAnswer(status, answer)])
  const headers = {
    ...(posture === 'guarded' && chatHeaders),
    ...(route.takesIdempotencyKey === true && idempotencyKey)
  }
  return {
    ...rest,
    ...(Object.keys(headers).length > 0 && { headers: { type: 'object', properties: headers } }),
    security: securityOf(access),
    response: Object.fromEntries(response)
  }

  function describeAnswer(status: string, answer: object): object {
    const headers = status === 'default' ? {} : answerHeaders(status, access)
    return {
      ...contentOf(status, answer, envelope),
      headers: { ...headers, ...(answer as { headers?: object }).headers }
    }
  }
}

function commonAnswers(posture: Access['posture'] | undefined, takesBody: boolean): Record<string, object> {
  if (posture === 'guarded') return { ...(takesBody ? chatRefusals : bodilessRefusals), ...upstreamAnswers }
  if (posture === 'pass') {
    return {
      ...errorResponses('validation_error', ...keyErrors, 'concurrency_limit_exceeded', 'overloaded'),
      ...upstreamAnswers
    }
  }
  return errorResponses(...(posture === 'public' ? [] : keyErrors), ...(takesBody ? bodyErrors : []))
}

const usual: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 204: 'No content' }

/** A description, and a schema for each media type; the schema of a plain answer is its own. */
function contentOf(status: string, answer: object, envelope: ErrorEnvelope | undefined): object {
  const {
    description,
    codes,
    content,
    envelope: its = envelope
  } = answer as Partial<ErrorAnswer> & { content?: object }
  if (codes !== undefined) {
    const schema = its === undefined ? ownErrors(codes) : errorEnvelopes[its]
    return { description, content: { 'application/json': { schema } } }
  }
  if (content !== undefined) return { description: description ?? usual[status], content }
  const { headers: _, ...schema } = answer as { headers?: object; type?: string; anyOf?: unknown }
  const says = description ?? usual[status]
  // `null` is how a schema says that there is no body.
  const hasBody = (schema.type !== undefined && schema.type !== 'null') || schema.anyOf !== undefined
  return { description: says, ...(hasBody ? { content: { 'application/json': { schema } } } : { type: 'null' }) }
}
