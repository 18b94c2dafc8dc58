/**
 * The one table of error codes. Statuses and codes are docs/api.md, section 2; a test holds the table, the OpenAPI document
 * and the page equal. Public messages never contain evaluated text, a matched phrase, a key or a stack.
 */
export const errorTable = {
  validation_error: { status: 400, message: 'The request is not valid.' },
  api_key_required: {
    status: 401,
    message: 'An API key is required: send it as X-API-Key or as Authorization: Bearer.'
  },
  invalid_api_key: { status: 401, message: 'The API key is not valid.' },
  sign_in_failed: { status: 401, message: 'The login or the password is not right, or the user is disabled.' },
  sign_in_required: { status: 401, message: 'Nobody is signed in, or the session has ended.' },
  insufficient_scope: { status: 403, message: 'The API key lacks a scope that this operation needs.' },
  ip_not_allowed: { status: 403, message: 'The address is not on the list of this API key.' },
  own_review: { status: 403, message: 'Nobody decides what their own hand caused or proposed.' },
  cross_site_request: { status: 403, message: 'A request with the cookie of a sign-in must come from this site.' },
  secure_transport_required: {
    status: 403,
    message:
      'Signing in needs HTTPS away from loopback: set server.tls, or put a proxy that terminates TLS in server.trusted_proxies and have it send x-forwarded-proto. In the clear it works from the private networks that server.plain_http_sign_in names.'
  },
  confirmation_required: {
    status: 403,
    message: 'This needs a fresh proof of who you are: confirm your sign-in first.'
  },
  invitation_invalid: { status: 403, message: 'This link is not valid: it was used, has expired, or never was.' },
  not_found: { status: 404, message: 'There is nothing at this address.' },
  method_not_allowed: { status: 405, message: 'This method is not allowed here.' },
  key_retiring: { status: 409, message: 'This key was rotated already and is in its grace period.' },
  key_revoked: { status: 409, message: 'This key is revoked.' },
  key_expired: { status: 409, message: 'This key is expired.' },
  already_decided: { status: 409, message: 'This review is decided already.' },
  review_expired: { status: 409, message: 'This review is expired.' },
  review_claimed: { status: 409, message: 'Someone else has claimed this review.' },
  second_person_required: {
    status: 409,
    message: 'Your own hand has permitted this review already: it needs a second.'
  },
  already_approved: { status: 409, message: 'Someone else has permitted this review first: it needs one more permit.' },
  login_taken: { status: 409, message: 'There is a user with this login already.' },
  last_admin: { status: 409, message: 'This is the last administrator who can sign in.' },
  duplicate_request: {
    status: 409,
    message: 'A request with this Idempotency-Key was sent before. See what it did, and send another with a new key.'
  },
  binding_changed: { status: 409, message: 'Another constitution is bound to the route than the request expects.' },
  active_changed: { status: 409, message: 'Another version is active than the request expects.' },
  payload_too_large: { status: 413, message: 'The body is too large.' },
  unsupported_media_type: { status: 415, message: 'The content type must be application/json in UTF-8.' },
  unsupported_encoding: {
    status: 415,
    message: 'The content encoding must be identity, gzip, deflate, br or zstd, once.'
  },
  too_complex: { status: 422, message: 'The request holds more than is judged at once.' },
  unscannable_content: { status: 422, message: 'The request holds content that cannot be evaluated.' },
  rate_limit_exceeded: { status: 429, message: 'The rate limit is exceeded.' },
  concurrency_limit_exceeded: { status: 429, message: 'Too many requests of this key are under way.' },
  internal_error: { status: 500, message: 'An internal error occurred.' },
  upstream_error: { status: 502, message: 'The upstream did not give a usable answer.' },
  upstream_timeout: { status: 504, message: 'The upstream did not answer in time.' },
  overloaded: { status: 503, message: 'The service is overloaded. Try again shortly.' },
  storage_unavailable: { status: 503, message: 'The storage is unavailable. Try again shortly.' },
  sign_in_unavailable: { status: 503, message: 'The provider that vouches for people cannot be reached.' },
  evaluator_unavailable: { status: 503, message: 'The evaluation could not be completed. Nothing was forwarded.' }
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof errorTable

/** Why a field was refused (docs/api.md, section 2, `details.reason`). */
export const validationReasons = [
  'missing',
  'wrong_type',
  'empty',
  'too_long',
  'out_of_range',
  'invalid_format',
  'unknown_field',
  'unknown_value',
  'malformed_json',
  'duplicate_key',
  'too_deep',
  'invalid_utf8',
  'unrepresentable_number'
] as const
export type ValidationReason = (typeof validationReasons)[number]

/**
 * A fault that is reported to a client. It has three texts: `code` for machines, `message` for the caller, `internal`
 * (optional) for the log alone. `fields` are the code's extra members of the body, `headers` go on the response.
 * Denials travel as values of this type where they are expected (see `identity`), and are thrown where they end a call.
 */
export class Fault implements Error {
  readonly name = 'Fault'
  readonly message: string
  readonly cause: unknown
  /**
   * Set only for statuses from 500 on: for callers' mistakes nobody reads a stack, and capturing it costs as much as
   * the rest of a refusal.
   */
  readonly stack?: string
  readonly code: ErrorCode
  readonly status: number
  readonly fields: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
  readonly internal: string | undefined

  constructor(
    code: ErrorCode,
    options: {
      /** The upstream's, where its error keeps it. */
      status?: number
      message?: string
      fields?: Record<string, unknown>
      headers?: Record<string, string>
      internal?: string
      cause?: unknown
    } = {}
  ) {
    const { message } = errorTable[code]
    const status = options.status ?? errorTable[code].status
    this.message = options.message ?? message
    this.cause = options.cause
    if (status >= 500) Error.captureStackTrace(this, Fault)
    this.code = code
    this.status = status
    this.fields = options.fields ?? {}
    this.headers = options.headers ?? {}
    this.internal = options.internal
  }
}

// An `instanceof Error`, but made without Error's constructor, which always captures a stack.
Object.setPrototypeOf(Fault.prototype, Error.prototype)

/** Fields of a request's budget; see `budget.ts`. */
export type BudgetField = 'nodes' | 'parts' | 'units' | 'views' | 'findings' | 'paths'

const budgetNouns: Readonly<Record<BudgetField, string>> = {
  nodes: 'JSON values',
  parts: 'texts',
  units: 'characters to judge, texts that are read as one included',
  views: 'characters in other readings of its texts',
  findings: 'findings, such as addresses or secrets',
  paths: 'characters in the paths of its values'
}

/**
 * A 422 for a request that holds more than its budget allows.
 * @param actual its number, or a lower bound beyond the limit
 * @param setting the setting that raises the limit; undefined without one
 */
export function tooComplex(field: BudgetField, actual: number, limit: number, setting?: string): Fault {
  const raise = setting === undefined ? '' : ` (${setting})`
  return new Fault('too_complex', {
    message: `The request holds too many ${budgetNouns[field]}: ${actual}, and at most ${limit} are allowed${raise}.`,
    fields: { details: { field, limit, actual, setting: setting ?? null } }
  })
}

/** A 400 that names the field (dotted path, `""` for the whole body, `query.<name>` or a header's name) and the reason. */
export function invalid(field: string, reason: ValidationReason, message: string): Fault {
  return new Fault('validation_error', { message, fields: { details: { field, reason } } })
}
