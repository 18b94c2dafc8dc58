/** The headers of answers and of requests in the OpenAPI document, and which credentials a route takes. */
import type { Access } from './facts.js'

const text = { type: 'string' }
const whole = { type: 'integer', minimum: 0 }

/** The document's `components.headers`. */
export const headerComponents = {
  RequestId: { description: 'The id of this request in logs, traces and the audit.', schema: text },
  RetryAfter: { description: 'Whole seconds after which another try may pass.', schema: whole },
  RateLimitLimit: { description: 'Requests that the key may make in any 60 seconds.', schema: whole },
  RateLimitRemaining: { description: 'How many of them are left now.', schema: whole },
  RateLimitReset: { description: 'Whole seconds until one more is allowed.', schema: whole },
  NextCursor: { description: 'Cursor of the next page; absent on the last one.', schema: text },
  Location: { description: 'Address that the browser opens next.', schema: text },
  SafetyDecision: {
    description: 'The verdict: of the stricter one where the answer is whole, of the request’s where it is streamed.',
    schema: { ...text, enum: ['permit', 'depends', 'divert', 'forbid'] }
  },
  SafetyScore: { description: 'The verdict’s risk score, 0 to 1.', schema: { type: 'number', minimum: 0, maximum: 1 } },
  SafetyPolicy: { description: 'The constitution that judged, as name@version.', schema: text },
  SafetyEvaluationId: { description: 'The verdict’s id, for the audit and for feedback.', schema: text },
  SafetyRules: { description: 'The names of the rules that bear on the decision, with commas between.', schema: text },
  SafetyCode: { description: 'The code of the refusal.', schema: text },
  SafetyPointer: { description: 'The JSON pointer of the offending message.', schema: text },
  SafetyReviewId: { description: 'The review that was opened.', schema: text },
  SafetyRedacted: { description: 'How many places were redacted.', schema: whole },
  SafetyNotEvaluated: {
    description:
      'Kinds of content that were forwarded unjudged: image, audio, file and others; image_content where only the text of a picture was judged.',
    schema: text
  },
  ShouldRetry: {
    description: 'Tells SDKs not to retry: the same request would be refused again.',
    schema: { ...text, const: 'false' }
  }
} as const
export type HeaderName = keyof typeof headerComponents

/** A header of an answer, by its name in `components.headers`. */
export const header = (component: HeaderName) => ({ component })

const limit = {
  'x-ratelimit-limit': header('RateLimitLimit'),
  'x-ratelimit-remaining': header('RateLimitRemaining'),
  'x-ratelimit-reset': header('RateLimitReset')
}
const verdict = {
  'x-safety-decision': header('SafetyDecision'),
  'x-safety-score': header('SafetyScore'),
  'x-safety-policy': header('SafetyPolicy'),
  'x-safety-evaluation-id': header('SafetyEvaluationId'),
  'x-safety-rules': header('SafetyRules')
}
const passed = { 'x-safety-redacted': header('SafetyRedacted'), 'x-safety-not-evaluated': header('SafetyNotEvaluated') }
const refused = {
  'x-safety-code': header('SafetyCode'),
  'x-safety-pointer': header('SafetyPointer'),
  'x-should-retry': header('ShouldRetry')
}
/** The statuses by which a verdict stops a chat. */
const verdictStatuses = ['400', '403', '422']

export function answerHeaders(status: string, { posture, cost = 0 }: Partial<Access>): Record<string, object> {
  const isGood = status.startsWith('2')
  const isGuarded = posture === 'guarded'
  const isCounted = (isGuarded || cost > 0) && (isGood || status === '429')
  const isStopped = isGuarded && verdictStatuses.includes(status)
  return {
    'x-request-id': header('RequestId'),
    ...((status === '429' || status === '503') && { 'retry-after': header('RetryAfter') }),
    ...(isCounted && limit),
    ...(isGuarded && isGood && { ...verdict, ...passed }),
    ...(isStopped && { ...verdict, ...refused }),
    ...(isStopped && status === '403' && { 'x-safety-review-id': header('SafetyReviewId') })
  }
}

/** The document's `components.securitySchemes`. */
export const securitySchemes = {
  key: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'A key of the gateway, slg_live_… or slg_test_…'
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'The same key as Authorization: Bearer.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-sluicegate',
    description: 'Someone who is signed in to the dashboard. Routes that ask for a fresh proof say so.'
  },
  'x-goog-api-key': {
    type: 'apiKey',
    in: 'header',
    name: 'x-goog-api-key',
    description: 'The same key where Google’s SDKs send it.'
  },
  'api-key': {
    type: 'apiKey',
    in: 'header',
    name: 'api-key',
    description: 'The same key where Azure’s SDKs send it.'
  }
} as const

/** Any one of them opens a route; the list of each holds the scope that the key, or the person’s role, must have. */
export function securityOf({ posture, scope, people, keyHeaders = [] }: Partial<Access>): Record<string, string[]>[] {
  const scopes = scope === undefined ? [] : [scope]
  if (posture === undefined || posture === 'public') return []
  if (posture === 'person') return [{ session: [] }]
  const names = ['key', 'bearer', ...keyHeaders.filter((name) => name in securitySchemes)]
  if (people !== undefined) names.push('session')
  return names.map((name) => ({ [name]: scopes }))
}

/** Request headers of management routes that take effect once. */
export const idempotencyKey = {
  'idempotency-key': { ...text, minLength: 1, maxLength: 255, description: 'A name of the request that is used once.' }
}

/** Request headers of guarded routes. */
export const chatHeaders = {
  'x-safety-context': {
    ...text,
    description: 'A JSON object of context. Only keys of the route’s caller_context count.'
  },
  'x-session-id': { ...text, maxLength: 128, description: 'Ties the turns of one conversation together.' }
}
