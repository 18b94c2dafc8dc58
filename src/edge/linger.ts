/**
 * The end of a connection on which a request was answered before all of its body had come. Closed at once, whatever still
 * comes is answered with a reset, and clients that are writing never see why they were refused (RFC 9112 section 9.6). So
 * the sending side is closed first, and what still comes is read and thrown away for a while.
 */
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/** For so long the rest of a refused body is read, ms. */
const lingerMs = 5_000

/** To be called with each request that has a body: Node ends its connection by `destroySoon` after the last answer on it. */
export function lingerOnClose(request: IncomingMessage): void {
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
