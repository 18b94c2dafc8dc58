/** Errors of the client: failures without an answer, and error answers of the gateway. */

/** Any failure of a call. None of them is a permit. */
export class SluicegateError extends Error {
  override readonly name: string = 'SluicegateError'
}

/** The gateway could not be reached, or its answer ended early. */
export class ConnectionError extends SluicegateError {
  override readonly name = 'ConnectionError'
}

/** No answer within `timeoutMs`. */
export class TimeoutError extends SluicegateError {
  override readonly name = 'TimeoutError'
}

/** An answer that is not from the gateway: from a proxy or another program. */
export class UnexpectedAnswerError extends SluicegateError {
  override readonly name = 'UnexpectedAnswerError'
  readonly status: number
  constructor(status: number) {
    super(`The answer (status ${status}) is none that the gateway gives.`)
    this.status = status
  }
}

/** An error that the gateway answered with. */
export class ApiError extends SluicegateError {
  override readonly name: string = 'ApiError'
  readonly status: number
  /** As docs/api.md, section 2, lists them. */
  readonly code: string
  readonly requestId: string | undefined
  /** Seconds, where the answer says how long to wait. */
  readonly retryAfter: number | undefined
  /** The whole body, with the code's own fields. */
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, body: Record<string, unknown>, headers: Headers) {
    super(String(body['message'] ?? body['error']))
    this.status = status
    this.code = String(body['error'])
    this.requestId = headers.get('x-request-id') ?? undefined
    this.retryAfter = secondsOf(headers.get('retry-after'))
    this.body = body
  }
}

/** 400: `field` and `reason` say what was wrong. */
export class ValidationError extends ApiError {
  override readonly name = 'ValidationError'
  get field(): string | undefined {
    return this.detail('field')
  }
  get reason(): string | undefined {
    return this.detail('reason')
  }
  private detail(name: string): string | undefined {
    const value = (this.body['details'] as Record<string, unknown> | undefined)?.[name]
    return typeof value === 'string' ? value : undefined
  }
}
/** 401: no key, or one that is not valid. */
export class AuthenticationError extends ApiError {
  override readonly name = 'AuthenticationError'
}
/** 403: the key may not do this. */
export class PermissionError extends ApiError {
  override readonly name = 'PermissionError'
}
/** 404. */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError'
}
/** 409: the request conflicts with the present state. */
export class ConflictError extends ApiError {
  override readonly name = 'ConflictError'
}
/** 429: `retryAfter` says when one more may pass. */
export class RateLimitError extends ApiError {
  override readonly name = 'RateLimitError'
}
/** 503: nothing was evaluated. */
export class UnavailableError extends ApiError {
  override readonly name = 'UnavailableError'
}

const byStatus: Readonly<Record<number, typeof ApiError>> = {
  400: ValidationError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
  503: UnavailableError
}

export function errorOf(status: number, body: Record<string, unknown>, headers: Headers): ApiError {
  return new (byStatus[status] ?? ApiError)(status, body, headers)
}

function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined
}
