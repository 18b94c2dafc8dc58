/** What the OpenAPI document says of all routes of a kind, besides what each says of itself. */
import { denialTable } from '../dialects/denial.js'
import { type ErrorCode, errorTable } from '../errors.js'
import type { Posture } from './facts.js'
import { errorResponses, judgedErrors, keyErrors } from './schemas.js'

const bodyErrors: ErrorCode[] = [
  'validation_error',
  'payload_too_large',
  'unsupported_media_type',
  'unsupported_encoding'
]

const passErrors: ErrorCode[] = ['validation_error', ...keyErrors, 'upstream_error', 'upstream_timeout']

/** What may stop a chat, in the shapes that its API publishes, which are not ours to describe. */
export const chatRefusals = codesByStatus([
  ...Object.values(denialTable),
  ...statuses([...judgedErrors, 'unscannable_content'])
])

const chat = {
  guarded: {
    summary: 'A chat route: the request and the answer are evaluated',
    tags: ['chat'],
    response: {
      200: { description: "The upstream's answer, or a refusal where the route says `respond: message`" },
      ...chatRefusals,
      ...codesByStatus(statuses(['upstream_error', 'upstream_timeout'])),
      default: { description: "The upstream's own answer" }
    }
  },
  pass: {
    summary: 'Forwarded with a key, without evaluation',
    tags: ['chat'],
    response: {
      200: { description: "The upstream's answer" },
      ...codesByStatus(statuses(passErrors)),
      default: { description: "The upstream's own answer" }
    }
  }
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
  const takesBody = methods.some((method) => method !== 'GET' && method !== 'HEAD' && method !== 'DELETE')
  if (posture === 'guarded' || posture === 'pass') {
    if (posture === 'pass') return { ...chat.pass, ...schema }
    if (takesBody)
      return { body: { type: 'object', description: "A request of the route's API." }, ...chat.guarded, ...schema }
    const { 200: _, ...refused } = chat.guarded.response
    return { ...chat.guarded, response: { 101: { description: 'A WebSocket' }, ...refused }, ...schema }
  }
  const common = errorResponses(...(posture === 'public' ? [] : keyErrors), ...(takesBody ? bodyErrors : []))
  return {
    ...schema,
    response: { ...common, ...((schema?.response as object | undefined) ?? { 200: { description: 'Done' } }) },
    ...(posture === 'public' ? { security: [] } : {})
  }
}
