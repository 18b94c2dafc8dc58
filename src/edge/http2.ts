/**
 * The differences of HTTP/2 (RFC 9113) from HTTP/1.1, for a host application that speaks it. Node's
 * `Http2ServerRequest` and `Http2ServerResponse` imitate the classes of HTTP/1.1, but not in everything.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { constants, Http2ServerRequest, Http2ServerResponse } from 'node:http2'

/** Told by its class, since an HTTP/1 client can write any version in its request line. */
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

/** Whether a closed response had been written completely. */
export function isComplete(response: ServerResponse): boolean {
  // HTTP/2 also calls a cancelled stream finished.
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
