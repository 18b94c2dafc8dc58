/** What a caller says about its own request: context and session. Nothing here can weaken mode, thresholds or output. */
import type { JsonObject } from '../chat.js'
import { isObject } from '../dialects/rewrite.js'
import { invalid } from '../errors.js'
import { parseJson } from '../json/parse.js'
import type { Inbound } from './exchange.js'
import type { Route } from './routes.js'

/** The contract's bound on a context, in bytes of its JSON. */
const maxContextBytes = 16_384
const identifier = /^[A-Za-z0-9._:-]{1,128}$/

/** The keys that count on this route, from the header or, without one, from the dialect's metadata. */
export function readContext(inbound: Inbound, route: Route, metadata: JsonObject | undefined): JsonObject | undefined {
  const header = inbound.headers['x-safety-context']
  const given = header === undefined ? metadata : parseContext(String(header))
  if (given === undefined) return undefined
  let context: JsonObject | undefined
  for (const key of Object.keys(given)) {
    if (!route.contextKeys.has(key)) continue
    context ??= {}
    context[key] = given[key]!
  }
  return context
}

function parseContext(header: string): JsonObject {
  const field = 'x-safety-context'
  // Node reads header bytes as Latin-1; the bytes themselves are the JSON text.
  const bytes = Buffer.from(header, 'latin1')
  if (bytes.length > maxContextBytes)
    throw invalid(field, 'too_long', `${field} must not exceed ${maxContextBytes} bytes.`)
  const value = parseJson(bytes, { field })
  if (!isObject(value)) throw invalid(field, 'wrong_type', `${field} must be a JSON object.`)
  return value
}

/** The session of one account, from the header or the dialect's own field. */
export function readSession(inbound: Inbound, own: string | undefined): string | undefined {
  const header = inbound.headers['x-session-id']
  if (header !== undefined && !identifier.test(String(header))) {
    throw invalid('x-session-id', 'invalid_format', 'x-session-id must be 1 to 128 of A-Z a-z 0-9 . _ : -')
  }
  const id = header ?? (own !== undefined && identifier.test(own) ? own : undefined)
  return id === undefined ? undefined : `${inbound.caller.accountId}:${String(id)}`
}

export function readReviewId(inbound: Inbound): string | undefined {
  const header = inbound.headers['x-safety-review-id']
  if (header === undefined) return undefined
  if (!identifier.test(String(header))) {
    throw invalid('x-safety-review-id', 'invalid_format', 'x-safety-review-id is not the id of a review.')
  }
  return String(header)
}
