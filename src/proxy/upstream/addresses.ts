/**
 * Addresses that no backend which somebody connects over the API may have: link-local ones and the metadata services of
 * clouds, which hand out credentials to whoever asks from the machine. A name is resolved once for each connection, every
 * address of it is looked at, and the connection goes to one of those very addresses: a name that says another one the
 * next time (DNS rebinding) gains nothing.
 */
import { lookup as resolve } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { compileAddressList, normaliseAddress } from '../../identity/address.js'

const isRefused = compileAddressList([
  '0.0.0.0/8',
  // Link-local; 169.254.169.254 and 169.254.170.2 are the metadata services of most clouds.
  '169.254.0.0/16',
  'fe80::/10',
  // The same within addresses that carry an IPv4 one: NAT64 (RFC 6052), 6to4 (RFC 3056).
  '64:ff9b::a9fe:0/112',
  '2002:a9fe::/32',
  // Metadata services elsewhere: Alibaba, Azure, Oracle, AWS and Google over IPv6.
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd20:ce::254',
  '::',
  // Multicast and broadcast are nobody's backend.
  '224.0.0.0/4',
  '255.255.255.255',
  'ff00::/8'
])

export class RefusedAddress extends Error {
  readonly code = 'EREFUSEDADDRESS'
  constructor() {
    super('the host has a link-local address, or that of a metadata service')
    this.name = 'RefusedAddress'
  }
}

export function isRefusedAddress(address: string): boolean {
  const plain = normaliseAddress(address)
  return plain === undefined || isRefused(plain)
}

/** Whether a host stands in a URL as an address, and as one that is refused: such a host is never looked up. */
export function isRefusedHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) !== 0 && isRefusedAddress(host)
}

/** In the place of `dns.lookup` of a connection. */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '', 0)
    if (addresses.some(({ address }) => isRefusedAddress(address))) return callback(new RefusedAddress(), '', 0)
    const [first] = addresses
    if (options.all === true) callback(null, addresses)
    else callback(null, first?.address ?? '', first?.family ?? 0)
  })
}
