/**
 * A node:http(s) server with this product's bounds (`DESIGN` rule 8), in front of whatever application is current. The
 * application can be swapped while it serves: requests under way end on the old one, new ones begin on the new one.
 */
import http, { type RequestListener, type Server } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'

const bounds = {
  /** Headers and body must have arrived by then; answers may take longer. */
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  /** Longer than the idle time of common load balancers (60 s), so that they close first and no request meets a closing socket. */
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
  insecureHTTPParser: false,
  requireHostHeader: true
}

export function createListener(handler: RequestListener, tls?: { cert: string; key: string }): Server {
  const server =
    tls === undefined
      ? http.createServer(bounds, handler)
      : (https.createServer({ ...bounds, ...tls, minVersion: 'TLSv1.2' }, handler) as unknown as Server)
  // Headers beyond a count would be dropped unseen (CVE-2026-58044); the 16 KiB bound them, and the edge refuses too many.
  server.maxHeadersCount = 0
  server.maxRequestsPerSocket = 0
  server.on('clientError', answerBrokenRequest)
  return server
}

/** What Node could not parse never reaches the application: answered here in the same shape, and closed. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, reason] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'too_long']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'missing']
        : ['400 Bad Request', 'invalid_format']
  const body = JSON.stringify({
    error: 'validation_error',
    message: 'The request is not well-formed HTTP/1.1, too large in its headers, or did not arrive in time.',
    details: { field: '', reason }
  })
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`
  )
}

/** Listens and answers with the address actually bound. */
export function listen(server: Server, port: number, host: string): Promise<{ host: string; port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? { host, port: address.port } : { host, port })
    })
  })
}

/** How often connections that became idle are looked for while draining, ms. */
const idleCheckMs = 50

/** Stops accepting, lets requests under way end, and cuts what is left after the deadline. */
export async function drain(server: Server, deadlineMs: number): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs)
  // A connection whose last answer has just ended stays open for the keep-alive time: nobody will use it again.
  const idle = setInterval(() => server.closeIdleConnections(), idleCheckMs)
  try {
    await new Promise<void>((resolve) => server.close(() => resolve()))
  } finally {
    clearTimeout(deadline)
    clearInterval(idle)
  }
}
