/**
 * The raw request target and framing, checked before anything is looked up. Routers decode and normalise what they
 * match (`%63hat`, `//`, `/./`, `;x`), upstreams decode it differently, and every difference is a way around a guard
 * (CVE-2026-22031, CVE-2026-2880, GHSA-2q7r-29rg-6m5h). So a path has one spelling; any other is a 404.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Fault, invalid } from '../base/errors.js'
import { hasBody } from './body.js'
import { isHttp2 } from './http2.js'

/** Segments of unreserved characters and `:` (Gemini's `model:verb`), none empty, none starting with a dot. */
const canonicalPath = /^\/(?:[A-Za-z0-9_~:-][A-Za-z0-9._~:-]*(?:\/[A-Za-z0-9_~:-][A-Za-z0-9._~:-]*)*)?$/

/**
 * The path of a raw target, or a 404 for any spelling that is not canonical.
 * @param folder the one path whose only spelling ends in a slash, so that links in its page are relative to it
 * @param reads of the matched route: accepts a path of it whose parameter is percent-encoded in its one way; every
 * other character of the path is the route's own
 */
export function canonicalTarget(target: string, folder?: string, reads?: (path: string) => boolean): string | Fault {
  const query = target.indexOf('?')
  const path = query === -1 ? target : target.slice(0, query)
  if (path === folder || canonicalPath.test(path)) return path
  return reads !== undefined && path.includes('%') && reads(path) ? path : new Fault('not_found')
}

const bodiless = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** Whether a body is taken with a method; with any other it is refused. */
export function mayHaveBody(method: string): boolean {
  return !bodiless.has(method)
}

/**
 * Headers that may appear once. Node keeps the first of most of them and silently drops the rest; another hop may keep
 * the last.
 */
const single = [
  'host',
  'authorization',
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'x-session-id',
  'x-safety-context',
  'x-safety-review-id'
]
/** Framing under names that hops which pass headers on as variables (CGI, WSGI) cannot tell from the real ones. */
const lookAlikes = ['content_length', 'transfer_encoding']
const refusedAlways = 0
/** One bit for each of `single`, so that a number can hold the set that a request has shown; one lookup for each header. */
const bitOf = new Map([
  ...single.map((name, index) => [name, 1 << index] as const),
  ...lookAlikes.map((name) => [name, refusedAlways] as const)
])

/**
 * More header lines than any client of a chat API sends; Node silently drops lines beyond its own bound
 * (CVE-2026-58044).
 */
const maxHeaderLines = 100

/** Connections on which a message was refused for its framing: everything else on them is refused too. */
const refused = new WeakSet<Socket>()

/**
 * Refuses framing and headers that Node accepts but another hop could read differently (RFC 9112 sections 3.2 and 6);
 * the caller then closes the connection. Node has already parsed the rest of the packet as further requests: they are
 * refused too.
 */
export function checkFraming(raw: IncomingMessage): Fault | undefined {
  if (refused.has(raw.socket)) return invalid('', 'invalid_format', 'The connection is being closed.')
  const fault = findAmbiguity(raw)
  if (fault !== undefined) refused.add(raw.socket)
  return fault
}

export function wrongVersion(): Fault {
  return invalid('', 'unknown_value', 'The version of HTTP must be 1.1 or 1.0.')
}

function findAmbiguity(raw: IncomingMessage): Fault | undefined {
  if (isHttp2(raw)) {
    const { ':authority': authority, host } = raw.headers
    if (authority !== undefined && host !== undefined && authority !== host) {
      return invalid('host', 'unknown_value', 'The Host header must equal :authority.')
    }
  } else if (raw.httpVersionMajor !== 1) {
    return wrongVersion()
  }
  const coding = raw.headers['transfer-encoding']
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || raw.httpVersionMinor === 0)) {
    return invalid('transfer-encoding', 'unknown_value', 'Transfer-Encoding must be chunked, with HTTP/1.1.')
  }
  if (!mayHaveBody(raw.method ?? '') && hasBody(raw)) {
    return invalid('', 'unknown_field', `${raw.method} takes no body.`)
  }
  if (raw.headers.host === undefined && raw.httpVersionMinor > 0) {
    return invalid('host', 'missing', 'The Host header is required.')
  }
  const { expect } = raw.headers
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    return invalid('expect', 'unknown_value', 'The only expectation that is supported is 100-continue.')
  }
  const { rawHeaders } = raw
  if (rawHeaders.length > 2 * maxHeaderLines) {
    return invalid('', 'too_long', `A request may have at most ${maxHeaderLines} header lines.`)
  }
  let seen = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    const bit = bitOf.get(name)
    if (bit === undefined) continue
    if (bit === refusedAlways) {
      return invalid(name, 'unknown_field', `The header ${name} could be read as ${name.replace('_', '-')}.`)
    }
    if ((seen & bit) !== 0) return invalid(name, 'duplicate_key', `The header ${name} may be given once.`)
    seen |= bit
  }
  return undefined
}
