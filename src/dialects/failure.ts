/** The error that an upstream sends in mid-stream, in place of the rest of its answer. */
import type { Json, JsonObject } from '../base/chat.js'
import { isObject } from './rewrite.js'

export interface StreamFailure {
  /** The event that says so. */
  event: JsonObject
  /** The same as the body of an answer. */
  body: JsonObject
  /** The status that the answer would have had. */
  status: number
}

/** By the names that APIs give to their kinds of error: docs.anthropic.com/en/api/errors, platform.openai.com/docs/guides/error-codes. */
const statusOf: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  invalid_api_key: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  overloaded_error: 529
}

/** @param error the object that says what is wrong, or its sentence */
export function failureOf(error: Json | undefined, event: JsonObject, body = event): StreamFailure {
  const told = isObject(error)
    ? [error.code, error.type].map(statusIn).find((status) => status !== undefined)
    : undefined
  return { event, body, status: told ?? 502 }
}

function statusIn(kind: Json | undefined): number | undefined {
  if (typeof kind === 'string' && Object.hasOwn(statusOf, kind)) return statusOf[kind]
  // Google and many servers give the status itself.
  const status = Number(kind)
  return typeof kind !== 'boolean' && Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined
}
