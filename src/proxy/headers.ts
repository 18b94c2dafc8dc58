/**
 * The headers of every call and reply, by allow-lists in both directions. A deny-list forgets the next header (CVE-2026-33805: a client named the proxy's own
 * headers in `Connection` and had them stripped); nothing that is not named here passes, hop-by-hop headers least of all.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { invalid } from '../base/errors.js'
import type { UpstreamAuth } from '../base/settings.js'
import { version } from '../base/version.js'
import type { Dialect, Framing, HeaderForm, RequestHeader, Target } from '../dialects/dialect.js'
import type { Exchange } from './exchange.js'

export const jsonType = 'application/json; charset=utf-8'

/** Media types by framing: requested from an upstream, received from it, sent to a client. */
export const mediaTypes: Readonly<Record<Framing, { received: string; sent: string; isBinary?: true }>> = {
  sse: { received: 'text/event-stream', sent: 'text/event-stream; charset=utf-8' },
  ndjson: { received: 'application/x-ndjson', sent: 'application/x-ndjson' },
  'json-array': { received: 'application/json', sent: 'application/json; charset=utf-8' },
  'aws-event-stream': {
    received: 'application/vnd.amazon.eventstream',
    sent: 'application/vnd.amazon.eventstream',
    isBinary: true
  }
}

/** Encoding of frames: in a binary framing each character is one byte. */
export function encodingOf(framing: Framing): 'utf8' | 'latin1' {
  return mediaTypes[framing].isBinary === true ? 'latin1' : 'utf8'
}

const stateKey = '(?:[a-z0-9][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})'
/** Visible ASCII without `,` and `=`. The standard has spaces too, which no vendor needs and sentences do. */
const stateMember = String.raw`${stateKey}=[!-+\--<>-~]{1,256}`
/**
 * Of clients of every API, forwarded as they are. None of them names a host, a path, a length, a credential or a cookie;
 * no verdict covers them, so each has a form.
 */
const fromClient: Dialect['requestHeaders'] = {
  // draft-ietf-httpapi-idempotency-key-header, with its quotes or without. A client that relies on it has to know.
  'idempotency-key': {
    form: /^("?)[\w.:~+/=-]{1,255}\1$/,
    accepted: '1 to 255 letters, digits and characters of "._:~+/=-"'
  },
  // https://www.w3.org/TR/trace-context-1/. What is malformed has to be ignored: section 3.2.4.
  traceparent: { form: /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/ },
  tracestate: { form: new RegExp(`^${stateMember}(?: ?, ?${stateMember}){0,31}$`) }
}
/** Upstream headers that a client receives besides the dialect's own. The gateway writes all other headers itself. */
const fromUpstream: Dialect['responseHeaders'] = {
  // RFC 9110 sections 10.2.3 and 5.6.7.
  'retry-after':
    /^(?:\d{1,9}|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT)$/
}

/** Adds the trace context to the headers of a call upstream. */
export type Propagate = (headers: Record<string, string>, requestId: string) => void

/** The media type that a request asks its upstream for. */
export function acceptFor(dialect: Dialect, stream: boolean, target: Target): string {
  if (stream) return mediaTypes[dialect.framing(target)].received
  if (dialect.textAnswers !== undefined) return ['application/json', ...dialect.textAnswers.types].join(', ')
  return dialect.answersWithSound === true ? 'audio/*, application/json' : 'application/json'
}

/** Prefix of the media type of a streamed answer; undefined where no stream was requested. */
export function streamedType(dialect: Dialect, stream: boolean, target: Target): string | undefined {
  if (stream) return mediaTypes[dialect.framing(target)].received
  return dialect.answersWithSound === true ? 'audio/' : undefined
}

const productName = String.raw`[A-Za-z][\w.+-]{0,63}`
const productVersion = String.raw`v?\d[\w.+-]{0,63}`
/** RFC 9110 section 10.1.5, with versions that are numbers; also as `ai-sdk/openai/2.0.0` and `OpenAI/JS 6.1.0`. */
const product = new RegExp(
  `(?<![^ ])(?:${productName}(?:/${productName}){0,2}/${productVersion}|${productName}/${productName} ${productVersion})(?![^ ])`,
  'g'
)
const onlyProduct = new RegExp(`^${productName}$`)
const mostProducts = 16

/** The products of a client that its `User-Agent` names; comments and other words are the client's own and stay here. */
function userAgent(value: string): string {
  if (onlyProduct.test(value)) return value
  const products = printable.test(value) ? (value.match(product) ?? []) : []
  // Some backends turn away calls that name no product.
  return products.slice(0, mostProducts).join(' ') || `sluicegate/${version}`
}

/** Visible ASCII: what a header value of ours or an upstream's may hold. */
const printable = /^[\x20-\x7e]{0,1024}$/

export function upstreamHeaders(
  dialect: Dialect,
  client: IncomingHttpHeaders,
  options: {
    requestId: string
    /** Media type of the answer. */
    accept: string
    /** Bytes and media type of the body; undefined: there is none. */
    body: { length: number; type: string } | undefined
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
  if (options.body !== undefined) {
    out['content-type'] = options.body.type
    out['content-length'] = String(options.body.length)
  }
  if (client['user-agent'] !== undefined) out['user-agent'] = userAgent(client['user-agent'])
  for (const name in fromClient) copy(name, fromClient[name]!.form, client, out)
  // It belongs to the trace that the other one names: section 3.3.
  if (out['traceparent'] === undefined) delete out['tracestate']
  for (const name in dialect.requestHeaders) copy(name, dialect.requestHeaders[name]!.form, client, out)
  options.propagate?.(out, options.requestId)
  // Last, so that nothing a client sent can stand in its place.
  return Object.assign(out, options.credential)
}

/**
 * The upstream's headers that a client receives. No verdict covers them, so each passes only in its documented form,
 * which has no room for free text.
 * @param model the model that the client requested
 */
export function clientHeaders(
  dialect: Dialect,
  { headers, key }: { headers: IncomingHttpHeaders; key: string | undefined },
  model: string | undefined
): Record<string, string> {
  const out: Record<string, string> = {}
  for (const [name, form] of formsOf(dialect)) {
    const value = headers[name]
    if (typeof value !== 'string' || (key !== undefined && value.includes(key))) continue
    if (form === 'model' ? isModel(value, model) : form.test(value)) out[name] = value
  }
  return out
}

const forms = new WeakMap<Dialect, readonly (readonly [string, HeaderForm])[]>()

/** The form of each header that passes, by name; built once for a dialect. */
function formsOf(dialect: Dialect): readonly (readonly [string, HeaderForm])[] {
  let known = forms.get(dialect)
  if (known === undefined) {
    known = Object.entries({ ...fromUpstream, ...dialect.responseHeaders })
    forms.set(dialect, known)
  }
  return known
}

/** A name that was judged in the request, with the date of a snapshot or without. */
function isModel(value: string, model: string | undefined): boolean {
  return (
    model !== undefined &&
    printable.test(model) &&
    value.startsWith(model) &&
    /^(?:-\d{4}-\d{2}-\d{2}|-\d{1,8})?$/.test(value.slice(model.length))
  )
}

function copy(name: string, form: RegExp, from: IncomingHttpHeaders, to: Record<string, string>): void {
  const value = from[name]
  if (typeof value === 'string' && printable.test(value) && form.test(value)) to[name] = value
}

/** @throws Fault `validation_error` for a header that has to be of its form and is not */
export function checkRequestHeaders({ requestHeaders }: Dialect, client: IncomingHttpHeaders): void {
  for (const name in fromClient) checkForm(name, fromClient[name]!, client)
  for (const name in requestHeaders) checkForm(name, requestHeaders[name]!, client)
}

function checkForm(name: string, { form, accepted }: RequestHeader, client: IncomingHttpHeaders): void {
  const value = client[name]
  if (value === undefined || accepted === undefined || form.test(String(value))) return
  throw invalid(name, 'invalid_format', `The header ${name} must be ${accepted}.`)
}

/** The upstream's credential in the header that it reads. */
export function credential(auth: UpstreamAuth, key: string | undefined): Readonly<Record<string, string>> {
  // Signatures are made for each request, in aws.ts.
  if (key === undefined || auth === 'none' || auth === 'aws') return {}
  return auth === 'bearer' ? { authorization: `Bearer ${key}` } : { [auth]: key }
}

/** A value of ours, fit for a header line: anything that is not visible ASCII is percent-encoded. */
function headerValue(text: string): string {
  if (printable.test(text)) return text
  // The strict reader accepts well-formed text only, so this cannot throw.
  return encodeURI(text).slice(0, 1024)
}

/** Headers of a streamed answer. */
export function streamHeaders({ route, inbound }: Exchange): Record<string, string> {
  return { 'content-type': mediaTypes[route.spoken.framing(inbound.target)].sent, 'cache-control': 'no-cache' }
}

/**
 * On every refusal, so that a client can drop the message named, and does not send the same again.
 * @param language of the sentence that people read
 */
export function refusalHeaders(code: string, pointer: string | undefined, language?: string): Record<string, string> {
  return {
    'x-safety-code': code,
    ...(pointer !== undefined && { 'x-safety-pointer': headerValue(pointer) }),
    ...(language !== undefined && { 'x-safety-message-language': language }),
    'x-should-retry': 'false'
  }
}

/** Names, numbers and ids of the verdict; never a text. */
export function addVerdictHeaders(
  headers: Record<string, string>,
  exchange: Exchange,
  verdict = exchange.verdict
): void {
  const { reviewId, redacted, unjudged, evaluationMs, upstreamMs } = exchange
  const timing = `evaluation;dur=${evaluationMs.toFixed(3)}`
  headers['server-timing'] = upstreamMs === 0 ? timing : `${timing}, upstream;dur=${upstreamMs.toFixed(3)}`
  if (verdict !== undefined) {
    headers['x-safety-decision'] = verdict.decision
    headers['x-safety-score'] = String(verdict.risk_score)
    headers['x-safety-policy'] = verdict.policy
    headers['x-safety-evaluation-id'] = verdict.evaluation_id
    headers['x-safety-rules'] = headerValue(verdict.matched_rules.join(', '))
  }
  if (reviewId !== undefined) headers['x-safety-review-id'] = reviewId
  if (redacted > 0) headers['x-safety-redacted'] = String(redacted)
  if (unjudged !== undefined) headers['x-safety-not-evaluated'] = [...unjudged].join(', ')
}
