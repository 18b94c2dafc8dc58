/** Writes the demo backend's answers over HTTP: one JSON value, a stream of events or of lines, or an error. */
import type { ServerResponse } from 'node:http'
import type { JsonObject } from '../../base/chat.js'

/** Input of a dialect's operation. */
export interface Call {
  body: JsonObject
  /** Wall time, ms. */
  now: number
  /** The model in the path. */
  model: string
  /** `alt=sse` and such. */
  query: URLSearchParams
  response: ServerResponse
}

/** A refusal of the demo's own, in OpenAI's terms; each dialect writes it in its shape. */
export class DemoError extends Error {
  readonly status: number
  readonly code: string
  readonly headers: Record<string, string>
  constructor(status: number, code: string, message: string, headers: Record<string, string> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.headers = headers
  }
}

export function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {}
): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    ...headers
  })
  response.end(text)
}

/** Server-sent events; those with a `type` carry it as their name too, as Anthropic and the Responses API do. */
export function sendEvents(
  response: ServerResponse,
  events: Iterable<object>,
  { isNamed = false, end = '' } = {}
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
  for (const event of events) {
    const name = isNamed ? `event: ${(event as { type: string }).type}\n` : ''
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`)
  }
  response.end(end)
}

export function sendLines(response: ServerResponse, lines: Iterable<object>): void {
  response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-cache' })
  for (const line of lines) response.write(`${JSON.stringify(line)}\n`)
  response.end()
}
