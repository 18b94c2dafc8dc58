/**
 * Upgrades to WebSocket (RFC 6455). A request that asks for one goes through the same router, hooks and handlers as any
 * other; the one route that may grant it takes the socket from here. Every other answer is an ordinary one, after which
 * the connection is closed: what a client wrote behind its request is never read as another request.
 */
import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export interface Upgrade {
  socket: Duplex
  /** Bytes that came behind the request already. */
  head: Buffer
}

const asked = new WeakSet<IncomingMessage>()
const offered = new WeakMap<IncomingMessage, Upgrade>()

export function asksForWebSocket({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  return method === 'GET' && /^websocket$/i.test(headers.upgrade ?? '')
}

/**
 * A request that counts as an upgrade only where it asks for a WebSocket. To any other (`h2c`, which some clients send
 * with every first request) Node would otherwise lose the body; so there it is an ordinary request, as without that
 * header.
 */
export class UpgradableRequest extends IncomingMessage {
  get upgrade(): boolean {
    return asked.has(this) && asksForWebSocket(this)
  }

  set upgrade(value: boolean | null) {
    if (value === true) asked.add(this)
  }
}

/** Remembers the socket of an upgrade for the route that may take it. */
export function offerUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
  // Only the route that takes the socket listens for its errors; until then this listener does.
  socket.on('error', () => socket.destroy())
  offered.set(request, { socket, head })
}

/** Puts an upgrade through an application like any request. */
export function answerUpgrade(request: IncomingMessage, socket: Duplex, handler: RequestListener): void {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  try {
    response.assignSocket(socket as Socket)
  } catch {
    // An earlier request on this connection is still being answered: the bytes of the two could not be told apart.
    socket.destroy()
    return
  }
  response.once('finish', () => (socket as Socket).destroySoon())
  handler(request, response)
}

/** The socket of an upgrade, once. */
export function takeUpgrade(request: IncomingMessage): Upgrade | undefined {
  const upgrade = offered.get(request)
  offered.delete(request)
  return upgrade
}
