/** A cache of client addresses, one for each peer. */
import type { EdgeDeps } from './edge.js'

type AddressOf = EdgeDeps['clientAddress']

/** Bound on the peers that are remembered, about 200 KB. */
const maxPeers = 1000

/**
 * The addresses of peers that name no other client, each worked out once: a connection brings many requests, and its
 * peer does not change.
 */
export function rememberPeers(addressOf: AddressOf): AddressOf {
  const known = new Map<string, string>()
  return (peer, forwardedFor) => {
    if (forwardedFor !== undefined) return addressOf(peer, forwardedFor)
    let address = known.get(peer)
    if (address === undefined) {
      address = addressOf(peer, undefined)
      // Bounded, since clients can come from any number of addresses.
      if (known.size >= maxPeers) known.clear()
      known.set(peer, address)
    }
    return address
  }
}
