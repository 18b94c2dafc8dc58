import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Asks a client that waits with its body (`Expect: 100-continue`) for it once the body is read, not before: until then
 * target, key and size may refuse the request, and a client that was asked would send it for nothing (RFC 9110 section
 * 10.1.1).
 */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const read = request._read
  request._read = function readFirst(size) {
    request._read = read
    // Behind an answer the rest is only thrown away.
    if (!response.headersSent) response.writeContinue()
    read.call(request, size)
  }
}
