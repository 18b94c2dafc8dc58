/**
 * Upgrades on a server that is not ours: that of an application in which the gateway is a plugin. Only what is asked of our
 * own paths is ours; anything else stays as it would be without us.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { answerUpgrade, asksForWebSocket, offerUpgrade } from '../../edge/upgrade.js'

/** @param paths exact, with the prefix of the scope that they are registered in */
export function upgradeOnHost(scope: FastifyInstance, paths: ReadonlySet<string>): void {
  const { server } = scope
  const answer = (request: IncomingMessage, socket: Duplex) =>
    answerUpgrade(request, socket, (raw, response) => scope.routing(raw, response))
  // First, so that the socket is known when the listener of another plugin routes the request at once.
  server.prependListener('upgrade', (request, socket, head) => {
    const isOurs = asksForWebSocket(request) && paths.has((request.url ?? '').split('?', 1)[0]!)
    if (isOurs) {
      offerUpgrade(request, socket, head)
      // Another plugin may route all upgrades of the application; if none has, nobody will.
      process.nextTick(() => {
        if (!isRouted(socket)) answer(request, socket)
      })
    } else if (server.listenerCount('upgrade') === 1) {
      if (asksForWebSocket(request)) answer(request, socket)
      else again(scope, request, socket, head)
    }
  })
}

/** Whether a response has been given the socket already. */
function isRouted(socket: Duplex & { _httpMessage?: unknown }): boolean {
  return socket._httpMessage !== undefined && socket._httpMessage !== null
}

/**
 * A request that Node stopped reading after its headers because somebody listens for upgrades (`h2c`, which some clients
 * ask for with every first request): read once more from its first byte on, without asking.
 */
function again({ server }: FastifyInstance, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`]
  const { rawHeaders } = request
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket)
}
