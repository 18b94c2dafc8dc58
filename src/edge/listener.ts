/**
 * A node:http(s) server with this product's bounds (docs/architecture.md, rule 8), in front of the current application.
 * The application can be swapped while it serves: requests under way end on the old one, new ones begin on the new one.
 * This file also builds the Fastify application of our own listeners.
 */

import http, { type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import https from 'node:https'
import { Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { type ErrorCode, errorTable, Fault } from '../base/errors.js'
import { urlHost } from '../base/units.js'
import { hasBody } from './body.js'
import { continueWhenRead } from './continue.js'
import { plainFault, sendFault } from './faults.js'
import { createRequestIds } from './request-id.js'
import { answerUpgrade, offerUpgrade, UpgradableRequest } from './upgrade.js'

const bounds = {
  /** Headers and body must have arrived by then; answers may take longer. */
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  /** Longer than the idle time of common load balancers (60 s), so that they close first and no request meets a closing socket. */
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
  insecureHTTPParser: false,
  // Checked by the edge, which answers in the shape that clients read.
  requireHostHeader: false,
  IncomingMessage: UpgradableRequest
}

const hstsHeader = 'strict-transport-security'

/**
 * Connections without a request yet: Node counts them neither as active nor as idle, so `drain` must find them here.
 */
const unusedSockets = new WeakMap<Server, Set<Socket>>()

/** The latest request of each connection, with its answer. */
const latest = new WeakMap<Socket, { request: IncomingMessage; response: ServerResponse }>()

export function createListener(handler: RequestListener, tls?: { cert: string; key: string; hstsMs: number }): Server {
  const unused = new Set<Socket>()
  // On every answer over TLS, and on none without (RFC 6797, sections 7.1 and 7.2). Without `includeSubDomains`: the
  // subdomains are not ours.
  const policy = tls && `max-age=${Math.floor(tls.hstsMs / 1000)}`
  const answer: RequestListener = (request, response: ServerResponse) => {
    if (policy !== undefined) response.setHeader(hstsHeader, policy)
    handler(request, response)
  }
  const handle: RequestListener = (request, response) => {
    unused.delete(request.socket)
    latest.set(request.socket, { request, response })
    if (hasBody(request)) lingerOnClose(request)
    answer(request, response)
  }
  const server =
    tls === undefined
      ? http.createServer(bounds, handle)
      : (https.createServer(
          { ...bounds, cert: tls.cert, key: tls.key, minVersion: 'TLSv1.2' },
          handle
        ) as unknown as Server)
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  unusedSockets.set(server, unused)
  // Headers beyond a count would be dropped unseen (CVE-2026-58044); the 16 KiB bound them, and the edge refuses too many.
  server.maxHeadersCount = 0
  server.maxRequestsPerSocket = 0
  // Any other expectation than 100-continue: refused by the edge, not by Node's empty answer.
  server.on('checkExpectation', handle)
  server.on('checkContinue', (request, response) => {
    continueWhenRead(request, response)
    handle(request, response)
  })
  server.on('upgrade', (request, socket, head) => {
    unused.delete(socket as Socket)
    offerUpgrade(request, socket, head)
    answerUpgrade(request, socket, answer)
  })
  const nextId = createRequestIds()
  server.on('clientError', (error, socket) =>
    inTurn(socket as Socket, () => answerBrokenRequest(error, socket as Socket, nextId(), policy))
  )
  return server
}

/**
 * Answers bytes that Node could not parse behind the answers that are under way. Where they are the body of a request
 * that has its answer, the connection only ends: another answer would be read as that of the next request.
 */
function inTurn(socket: Socket, answer: () => void): void {
  const { request, response } = latest.get(socket) ?? {}
  const isAnswered = request?.complete === false && response?.headersSent === true
  const isOpen = response?.closed === false && (isAnswered || request?.complete === true)
  const end = isAnswered ? () => socket.destroySoon() : answer
  if (isOpen) response.once('close', end)
  else end()
}

/** What Node could not parse never reaches the application: answered here in the same shape, and closed. */
function answerBrokenRequest(
  error: NodeJS.ErrnoException,
  socket: Socket,
  requestId: string,
  policy: string | undefined
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, ...body } = brokenRequests[error.code ?? ''] ?? {
    status: '400 Bad Request',
    error: 'validation_error',
    message: 'The request is not well-formed HTTP/1.1.',
    details: { field: '', reason: 'invalid_format' }
  }
  const text = JSON.stringify({ ...body, request_id: requestId })
  const hsts = policy === undefined ? '' : `${hstsHeader}: ${policy}\r\n`
  socket.end(
    `HTTP/1.1 ${status}\r\nx-request-id: ${requestId}\r\n${hsts}content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`
  )
}

const brokenRequests: Readonly<
  Record<string, { status: string; error: ErrorCode; message: string; details?: object }>
> = {
  // A path with bytes that no path of ours contains.
  HPE_INVALID_URL: { status: '404 Not Found', error: 'not_found', message: errorTable.not_found.message },
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    error: 'validation_error',
    message: `The headers are too large: at most ${bounds.maxHeaderSize} bytes are allowed.`,
    details: { field: '', reason: 'too_long' }
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    error: 'validation_error',
    message: `The request did not arrive in time: headers within ${bounds.headersTimeout / 1000} s, all of it within ${bounds.requestTimeout / 1000} s.`,
    details: { field: '', reason: 'missing' }
  }
}

const listenFailures: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process has this port',
  EACCES: 'this user may not take this port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'this host has no address'
}

/**
 * Listens and answers with the address actually bound.
 * @param section of the configuration, where the address stands
 * @throws an Error that names the address, its keys and its variables
 */
export function listen(
  server: Server,
  { port, host }: { port: number; host: string },
  section: 'server' | 'ops'
): Promise<{ host: string; port: number }> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => {
      const prefix = section === 'ops' ? 'SLUICEGATE_OPS' : 'SLUICEGATE'
      const reason = listenFailures[error.code ?? ''] ?? error.message
      reject(
        new Error(
          `Cannot listen on ${urlHost(host)}:${port}: ${reason} (${error.code}; ${section}.host and ${section}.port, ${prefix}_HOST and ${prefix}_PORT)`,
          { cause: error }
        )
      )
    }
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? { host, port: address.port } : { host, port })
    })
  })
}

/** How often a drain closes connections that became idle, ms. */
const idleCheckMs = 50

/** Stops accepting, lets requests under way end, and cuts what is left after the deadline. */
export async function drain(server: Server, deadlineMs: number): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs)
  // A connection whose last answer has just ended stays open for the keep-alive time: nobody will use it again.
  const idle = setInterval(() => server.closeIdleConnections(), idleCheckMs)
  for (const socket of unusedSockets.get(server) ?? []) socket.destroy()
  try {
    await new Promise<void>((resolve) => server.close(() => resolve()))
  } finally {
    clearTimeout(deadline)
    clearInterval(idle)
  }
}

/** A Fastify application of our own, for our own listeners; a host application brings its own. */
export async function buildApp(register: (app: FastifyInstance) => Promise<void>): Promise<FastifyInstance> {
  const nextId = createRequestIds()
  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    // Long, for a slow start on a busy machine.
    pluginTimeout: 60_000,
    routerOptions: {
      caseSensitive: true,
      ignoreTrailingSlash: false,
      ignoreDuplicateSlashes: false,
      // Longer than any identifier here, so that the identifier's own pattern refuses values that are too long.
      maxParamLength: 1_000
    },
    // A target that the router cannot read is a 404, like any other odd spelling.
    frameworkErrors: (_error, _request, reply) => {
      const id = nextId()
      reply.header('x-request-id', id)
      sendFault(reply, plainFault(new Fault('not_found'), id))
    }
  })
  await register(app)
  await app.ready()
  return app
}

/** How long the rest of a refused body is read, ms. */
const lingerMs = 5_000

/**
 * Ends a connection on which a request was answered before all of its body had come. If it closed at once, the rest of
 * the body would be answered with a reset, and a client that is still writing would never see why it was refused (RFC
 * 9112 section 9.6). So the sending side closes first, and the rest is read and thrown away for a while. Call it with
 * each request that has a body: Node ends its connection by `destroySoon` after the last answer on it.
 */
function lingerOnClose(request: IncomingMessage): void {
  const { socket } = request
  socket.destroySoon = function closeInStages(this: Socket): void {
    if (request.complete || this.destroyed) {
      Socket.prototype.destroySoon.call(this)
      return
    }
    this.end()
    const deadline = setTimeout(() => this.destroy(), lingerMs)
    this.once('close', () => clearTimeout(deadline))
    request.once('end', () => this.destroy())
    request.resume()
  }
}
