/**
 * Forbidden addresses of backends connected over the API: link-local ones and the metadata services of clouds, which
 * give credentials to every caller on the machine. A name is resolved once for each connection, all its addresses are
 * checked, and the connection uses one of them, so that a changed name (DNS rebinding) gains nothing.
 */
import { lookup as resolve } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { compileAddressList, normaliseAddress } from '../../identity/address.js'

const isRefused = compileAddressList([
  '0.0.0.0/8',
  // Link-local; 169.254.169.254 and 169.254.170.2 are the metadata services of most clouds.
  '169.254.0.0/16',
  'fe80::/10',
  // The same in IPv6 addresses that embed an IPv4 one: NAT64 (RFC 6052), 6to4 (RFC 3056).
  '64:ff9b::a9fe:0/112',
  '2002:a9fe::/32',
  // Metadata services elsewhere: Alibaba, Azure, Oracle, AWS and Google over IPv6.
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd20:ce::254',
  '::',
  // Multicast and broadcast addresses have no backend.
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

function isRefusedAddress(address: string): boolean {
  const plain = normaliseAddress(address)
  return plain === undefined || isRefused(plain)
}

/** Whether the host of a URL is a literal address that is refused: such a host gets no lookup. */
export function isRefusedHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) !== 0 && isRefusedAddress(host)
}

/** Replaces `dns.lookup` for a connection. */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '', 0)
    if (addresses.some(({ address }) => isRefusedAddress(address))) return callback(new RefusedAddress(), '', 0)
    const [first] = addresses
    if (options.all === true) callback(null, addresses)
    else callback(null, first?.address ?? '', first?.family ?? 0)
  })
}
