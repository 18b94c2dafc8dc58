/**
 * Parses, normalises and compares addresses as numbers, never as texts, so that an odd spelling cannot imitate another
 * address.
 */
import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * The address of a client whose address is unknown (RFC 7239, section 6.2). It is on no list, and all such clients
 * share one bucket.
 */
export const unknownAddress = 'unknown'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * Node's own checks come first: they refuse the octal, hexadecimal and shortened forms (`010.0.0.1`, `0x7f.1`, `127.1`)
 * that ipaddr.js would read. Zones are refused too: they name an interface of one host, not a client.
 */
function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return ipaddr.IPv4.parse(text)
  if (!isIPv6(text) || text.includes('%')) return undefined
  const address = ipaddr.IPv6.parse(text)
  // A dual-stack socket shows IPv4 clients as ::ffff:a.b.c.d: they are the IPv4 client.
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

/** The one spelling of an address (RFC 5952), v4-mapped unmapped; undefined where the text is no address. */
export function normaliseAddress(text: string): string | undefined {
  return parseAddress(text)?.toString()
}

/** Tells whether an address, in any spelling, is on the list. An invalid address is on no list. */
export type AddressMatcher = (address: string) => boolean

/**
 * Compiles addresses and CIDRs of both families; bits right of a CIDR's length are ignored.
 * @throws an Error that names the first entry that is neither
 */
export function compileAddressList(list: readonly string[]): AddressMatcher {
  const ranges = list.map(parseRange)
  return (text) => {
    const address = parseAddress(text)
    if (!address) return false
    return ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base as never, bits))
  }
}

function parseRange(entry: string): [Address, number] {
  const [text = '', length, more] = entry.split('/')
  const address = parseAddress(text)
  if (address && length === undefined) return [address, address.toByteArray().length * 8]
  if (address && more === undefined && /^(0|[1-9]\d{0,2})$/.test(length!)) {
    const mapped = address.kind() === 'ipv4' && text.includes(':')
    // ::ffff:10.0.0.0/104 is 10.0.0.0/8. A shorter mapped prefix would hold more than IPv4: it has no meaning here.
    const bits = Number(length) - (mapped ? 96 : 0)
    if (bits >= 0 && bits <= address.toByteArray().length * 8) return [address, bits]
  }
  throw new Error(`${JSON.stringify(entry)} is neither an IP address nor a CIDR such as 10.0.0.0/8 or 2001:db8::/32`)
}

/**
 * The client's address: the socket's peer, unless the peer is a trusted proxy; then the right-most hop of
 * `X-Forwarded-For` that is not itself trusted. Everything left of that hop was written by someone we do not trust.
 * Where every hop is trusted, the left-most one. A trusted proxy that wrote something unreadable leaves the client
 * unknown, which is on no list: falling back to the proxy's own address would lend the client the proxy's rights.
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | readonly string[] | undefined,
  trusted: AddressMatcher
): string {
  let address = normaliseAddress(peer) ?? unknownAddress
  if (forwardedFor === undefined || !trusted(address)) return address
  // Several header lines are one list, in order (RFC 9110, section 5.3).
  const hops = (typeof forwardedFor === 'string' ? forwardedFor : forwardedFor.join(',')).split(',')
  for (const hop of hops.reverse()) {
    const text = hop.trim()
    // An empty list element is no hop (RFC 9110, section 5.6.1).
    if (text === '') continue
    address = normaliseAddress(withoutPort(text)) ?? unknownAddress
    if (!trusted(address)) return address
  }
  return address
}

/** Some proxies write the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  return /^(\d+\.\d+\.\d+\.\d+)(?::\d{1,5})?$/.exec(hop)?.[1] ?? /^\[([^\]]+)\](?::\d{1,5})?$/.exec(hop)?.[1] ?? hop
}

/** The unit for counting failed authentications: one IPv6 client controls a whole /64. */
export function addressBucket(address: string): string {
  const parsed = parseAddress(address)
  if (!parsed) return unknownAddress
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const network = parsed.toByteArray().slice(0, 8)
  return `${new ipaddr.IPv6([...network, 0, 0, 0, 0, 0, 0, 0, 0]).toString()}/64`
}
