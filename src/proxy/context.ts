/** What a caller says about its own request: context and session. Nothing here can weaken mode, thresholds or output. */
import type { ChatPart, JsonObject } from '../base/chat.js'
import { invalid } from '../base/errors.js'
import { isObject, pointerSegment } from '../dialects/rewrite.js'
import { Collector } from '../dialects/walk.js'
import { maxContextBytes, maxSessionId, sessionIdPattern } from '../edge/evaluate-input.js'
import { parseJson } from '../json/parse.js'
import type { Inbound } from './exchange.js'
import type { Route } from './routes.js'

const characters = new RegExp(sessionIdPattern)
export const isIdentifier = (text: string) => text.length > 0 && text.length <= maxSessionId && characters.test(text)

const contextHeader = 'x-safety-context'
const noNames: ReadonlySet<string> = new Set()

export interface CallerContext {
  /** The keys that count on this route. */
  context: JsonObject | undefined
  /** What else stands in the header, to be judged as text. What stands in the body is judged with the body. */
  texts: ChatPart[]
}

const nothing: CallerContext = { context: undefined, texts: [] }

/** From the header or, without one, from the dialect's metadata. */
export function readContext(inbound: Inbound, route: Route, metadata: JsonObject | undefined): CallerContext {
  const header = inbound.headers[contextHeader]
  const given = header === undefined ? metadata : parseContext(String(header))
  if (given === undefined) return nothing
  let context: JsonObject | undefined
  const others = new Collector(noNames)
  for (const key of Object.keys(given)) {
    if (route.contextKeys.has(key)) {
      context ??= {}
      context[key] = given[key]!
    } else if (header !== undefined) {
      const pointer = `${contextHeader}/${pointerSegment(key)}`
      others.text('parameter', key, pointer)
      others.walk('parameter', given[key], pointer)
    }
  }
  return { context, texts: others.parts }
}

function parseContext(header: string): JsonObject {
  const field = contextHeader
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
  if (header !== undefined && !isIdentifier(String(header))) {
    throw invalid('x-session-id', 'invalid_format', 'x-session-id must be 1 to 128 of A-Z a-z 0-9 . _ : -')
  }
  const id = header ?? (own !== undefined && isIdentifier(own) ? own : undefined)
  return id === undefined ? undefined : `${inbound.caller.accountId}:${String(id)}`
}

export function readReviewId(inbound: Inbound): string | undefined {
  const header = inbound.headers['x-safety-review-id']
  if (header === undefined) return undefined
  if (!isIdentifier(String(header))) {
    throw invalid('x-safety-review-id', 'invalid_format', 'x-safety-review-id is not the id of a review.')
  }
  return String(header)
}
