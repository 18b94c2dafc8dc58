/**
 * Allow-lists in both directions. A deny-list forgets the next header (CVE-2026-33805: a client named the proxy's own
 * headers in `Connection` and had them stripped); nothing that is not named here passes, hop-by-hop headers least of all.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Dialect } from '../dialects/dialect.js'
import type { UpstreamAuth } from '../settings.js'

/** Forwarded as the client sent them. None of them names a host, a path, a length, a credential or a cookie. */
const fromClient = ['idempotency-key', 'traceparent', 'tracestate', 'user-agent']
/** Taken over from the upstream besides the dialect's own. Everything else that a client sees is written here. */
const fromUpstream = ['retry-after']

/** Puts into the headers of a call upstream whose trace it belongs to. */
export type Propagate = (headers: Record<string, string>, requestId: string) => void

/** Visible ASCII: what a header value of ours or an upstream's may hold. */
const printable = /^[\x20-\x7e]{0,1024}$/

export function upstreamHeaders(
  dialect: Dialect,
  client: IncomingHttpHeaders,
  options: {
    requestId: string
    /** Media type of the answer. */
    accept: string
    length: number | undefined
    credential: Readonly<Record<string, string>>
    /** Undefined: the client's own trace headers pass. */
    propagate: Propagate | undefined
  }
): Record<string, string> {
  const out: Record<string, string> = {
    accept: options.accept,
    // A coding would have to be undone before the answer can be judged.
    'accept-encoding': 'identity',
    'x-request-id': options.requestId
  }
  if (options.length !== undefined) {
    out['content-type'] = 'application/json'
    out['content-length'] = String(options.length)
  }
  copy(fromClient, client, out)
  copy(dialect.requestHeaders, client, out)
  options.propagate?.(out, options.requestId)
  // Last, so that nothing a client sent can stand in its place.
  return Object.assign(out, options.credential)
}

export function clientHeaders(dialect: Dialect, upstream: IncomingHttpHeaders): Record<string, string> {
  const out: Record<string, string> = {}
  copy(fromUpstream, upstream, out)
  copy(dialect.responseHeaders, upstream, out)
  return out
}

function copy(names: readonly string[], from: IncomingHttpHeaders, to: Record<string, string>): void {
  for (const name of names) {
    const value = from[name]
    if (typeof value === 'string' && printable.test(value)) to[name] = value
  }
}

/** The upstream's credential in the header that it reads. */
export function credential(auth: UpstreamAuth, key: string | undefined): Readonly<Record<string, string>> {
  if (key === undefined || auth === 'none') return {}
  return auth === 'bearer' ? { authorization: `Bearer ${key}` } : { [auth]: key }
}

/** A value of ours, fit for a header line: anything that is not visible ASCII is percent-encoded. */
export function headerValue(text: string): string {
  if (printable.test(text)) return text
  // What the strict reader let in is well formed, so this cannot throw.
  return encodeURI(text).slice(0, 1024)
}
