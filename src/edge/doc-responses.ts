/** What the OpenAPI document says of all routes of a kind, besides what each says of itself. */

import { type ErrorCode, errorTable } from '../base/errors.js'
import { denialTable, queueFull } from '../dialects/denial.js'
import type { Posture } from './facts.js'
import { bodyErrors, errorResponses, judgedErrors, keyErrors } from './schemas.js'
import { mayHaveBody } from './target.js'

/** What may stop a chat, in the shapes that its API publishes, which are not ours to describe. */
export const chatRefusals = codesByStatus([
  ...Object.values(denialTable),
  queueFull,
  ...statuses([...judgedErrors, 'unscannable_content'])
])

/** The same of what is asked for without a body. */
const bodilessRefusals = codesByStatus([
  ...Object.values(denialTable),
  queueFull,
  ...statuses(judgedErrors.filter((code) => code === 'validation_error' || !bodyErrors.includes(code)))
])

const upstreamAnswers = {
  ...codesByStatus(statuses(['upstream_error', 'upstream_timeout'])),
  default: { description: "The upstream's own answer" }
}

const chat = {
  guarded: {
    summary: 'A chat route: the request and the answer are evaluated',
    tags: ['chat'],
    response: {
      200: { description: "The upstream's answer, or a refusal where the route says `respond: message`" },
      ...chatRefusals,
      ...upstreamAnswers
    }
  },
  pass: {
    summary: 'Forwarded with a key, without evaluation',
    tags: ['chat'],
    response: {
      200: { description: "The upstream's answer" },
      ...codesByStatus(statuses(['validation_error', ...keyErrors, 'concurrency_limit_exceeded', 'overloaded'])),
      ...upstreamAnswers
    }
  }
}

/** A chat over a WebSocket: its route is asked by GET. */
const socket = {
  ...chat.guarded,
  response: { 101: { description: 'A WebSocket' }, ...bodilessRefusals, ...upstreamAnswers }
}

function statuses(codes: readonly ErrorCode[]): { status: number; code: string }[] {
  return codes.map((code) => ({ status: errorTable[code].status, code }))
}

function codesByStatus(errors: readonly { status: number; code: string }[]): Record<string, object> {
  const responses: Record<string, object> = {}
  for (const { status } of errors) {
    const codes = errors.filter((error) => error.status === status).map(({ code }) => code)
    responses[status] = { description: codes.join(', ') }
  }
  return responses
}

interface Described {
  body?: unknown
  response?: unknown
}

/**
 * @param methods of the route, upper case
 * @returns the schema for the document; the one that validates is not touched
 */
export function describeRoute(schema: Described | undefined, posture: Posture | undefined, methods: string[]): object {
  const takesBody = methods.some(mayHaveBody)
  if (posture === 'pass') return { ...chat.pass, ...schema }
  if (posture === 'guarded') {
    return takesBody
      ? { body: { type: 'object', description: "A request of the route's API." }, ...chat.guarded, ...schema }
      : { ...socket, ...schema }
  }
  const common = errorResponses(...(posture === 'public' ? [] : keyErrors), ...(takesBody ? bodyErrors : []))
  return {
    ...schema,
    response: { ...common, ...((schema?.response as object | undefined) ?? { 200: { description: 'Done' } }) },
    ...(posture === 'public' ? { security: [] } : {})
  }
}
