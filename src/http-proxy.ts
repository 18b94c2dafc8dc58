/**
 * The guard in front of an existing `http-proxy` server, in a plain node:http or Express program.
 *
 * ```ts
 * import http from 'node:http'
 * import httpProxy from 'http-proxy'
 * import { guard } from 'sluicegate/http-proxy'
 *
 * const guarded = await guard({ proxy: httpProxy.createProxyServer(), config: 'gateway.yaml' })
 * http.createServer(guarded.handle).listen(3000)
 * ```
 */
import httpProxy from 'http-proxy'
import { createRequestIds } from './edge/request-id.js'
import { clientAddress, compileAddressList } from './identity/address.js'
import { type LibraryOptions, openForLibrary } from './main/library.js'
import { createNodeGuard, type NodeGuard } from './proxy/node-http.js'

export type { LibraryOptions } from './main/library.js'
export type { NodeGuard } from './proxy/node-http.js'

export interface GuardOptions extends LibraryOptions {
  /** The program's own http-proxy server: its agent and TLS settings carry the bytes. Default: a new one. */
  proxy?: httpProxy
}

export interface Guard {
  /** A request listener, and an Express middleware: with `next`, paths outside the route table are left to others. */
  handle: NodeGuard
  /** Ends what the guard opened: the store, the threads. The program's proxy stays its own. */
  close(): Promise<void>
}

/**
 * Opens a gateway and puts its funnel in front of `proxy`. Register it before any body parser.
 * @throws ConfigError where the configuration is not valid
 */
export async function guard({ proxy = httpProxy.createProxyServer(), ...options }: GuardOptions = {}): Promise<Guard> {
  const { gateway, close } = await openForLibrary(options)
  const trusted = compileAddressList(gateway.settings.server.trustedProxies)
  const handle = createNodeGuard({
    chat: gateway.proxy,
    admission: gateway.platform.admission,
    proxy,
    clientAddress: (peer, forwardedFor) => clientAddress(peer, forwardedFor, trusted),
    nextRequestId: createRequestIds(),
    underWay: gateway.underWay
  })
  return { handle, close }
}
