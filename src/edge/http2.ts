/**
 * What HTTP/2 does otherwise than HTTP/1.1, for an application in which the gateway is a plugin and which speaks it
 * (RFC 9113): Node's `Http2ServerRequest` and `Http2ServerResponse` are all but what they stand for.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { constants, Http2ServerRequest, Http2ServerResponse } from 'node:http2'

/** By its class: the version that a request line of HTTP/1 names is the client's to choose. */
export function isHttp2(raw: IncomingMessage): boolean {
  return (raw as object) instanceof Http2ServerRequest
}

/** The host that a request is for, as it was sent; HTTP/2 has a field of its own for it (RFC 9113 section 8.3.1). */
export function authorityOf(headers: IncomingHttpHeaders): string | undefined {
  return (headers[':authority'] as string | undefined) ?? headers.host
}

/** Whether nobody reads this response any more; also true after its end. */
export function isClosed(response: ServerResponse): boolean {
  return isOfHttp2(response) ? response.stream.destroyed : response.destroyed
}

/** Of a response that is closed: whether all of it had been written by then. */
export function isComplete(response: ServerResponse): boolean {
  // HTTP/2 calls a stream finished that the client has cancelled.
  return response.writableFinished && response.writableEnded
}

/** Ends a response so that no client takes it for complete. */
export function cutOff(response: ServerResponse): void {
  if (isOfHttp2(response)) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  else response.destroy()
}

function isOfHttp2(response: object): response is Http2ServerResponse {
  return response instanceof Http2ServerResponse
}
