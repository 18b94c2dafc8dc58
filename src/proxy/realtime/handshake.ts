/** What is asked of an upgrade before anything is opened for it (RFC 6455 section 4.2.1), beyond what every request is asked. */
import type { IncomingMessage } from 'node:http'
import { type Fault, invalid } from '../../base/errors.js'
import { crossSiteFault } from '../../edge/same-site.js'

/** The subprotocol of the API; that which carries the key is never selected. */
export const subprotocol = 'realtime'

const keyPattern = /^[A-Za-z0-9+/]{22}==$/
/** A list of tokens (RFC 9110 section 5.6.2). */
const protocolsPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:[ \t]*,[ \t]*[!#$%&'*+\-.^_`|~0-9A-Za-z]+)*$/

export function handshakeFault(request: IncomingMessage): Fault | undefined {
  const { headers } = request
  if (!keyPattern.test(headers['sec-websocket-key'] ?? '')) {
    return invalid('sec-websocket-key', 'invalid_format', 'Sec-WebSocket-Key must be 16 bytes in base64.')
  }
  if (headers['sec-websocket-version'] !== '13') {
    return invalid('sec-websocket-version', 'unknown_value', 'Sec-WebSocket-Version must be 13.')
  }
  const protocols = headers['sec-websocket-protocol']
  if (protocols !== undefined && !protocolsPattern.test(protocols)) {
    return invalid('sec-websocket-protocol', 'invalid_format', 'Sec-WebSocket-Protocol must be a list of names.')
  }
  // Nobody is given leave to call the API from another site (no CORS), which WebSockets do not ask for by themselves.
  return crossSiteFault(request, 'A WebSocket must come from this site')
}
