/** Parsers of durations, sizes and addresses in a configuration. Each returns undefined for anything else. */
import { BlockList, isIP } from 'node:net'

const millisecondsPer: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const bytesPer: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

export const durationForms = '500ms, 5s, 10m, 24h or 7d'
export const sizeForms = 'bytes, or 64KiB, 1MiB'

/** `500ms`, `5s`, `10m`, `24h`, `7d` in milliseconds. A bare number has no unit and is not a duration. */
export function parseDuration(text: string): number | undefined {
  return measure(text, /^(\d{1,9})(ms|s|m|h|d)$/, millisecondsPer)
}

/** `1048576`, `512B`, `64KiB`, `1MiB` in bytes. */
export function parseSize(text: string | number): number | undefined {
  if (typeof text === 'number') return Number.isSafeInteger(text) && text >= 0 ? text : undefined
  return /^\d{1,15}$/.test(text) ? Number(text) : measure(text, /^(\d{1,9})(B|KiB|MiB|GiB)$/, bytesPer)
}

function measure(text: string, pattern: RegExp, units: Readonly<Record<string, number>>): number | undefined {
  const [, amount, unit = ''] = pattern.exec(text) ?? []
  return amount === undefined ? undefined : Number(amount) * (units[unit] as number)
}

/** An IPv4 or IPv6 address, alone or with a prefix length. Names such as `loopback` and hop counts are not. */
export function isAddressOrCidr(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  // A zone (`fe80::1%eth0`) names an interface of this machine, not a network.
  if (version === 0 || address.includes('%') || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128))
}

/** An address under which a listener can be reached: a wildcard address cannot be used itself. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? 'localhost' : urlHost(host)
}

/** Networks that the public internet does not route: RFC 1918, RFC 4193, link-local and loopback. */
const privateNetworks: readonly [string, number][] = [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['127.0.0.0', 8],
  ['fc00::', 7],
  ['fe80::', 10],
  ['::1', 128]
]

/** An address or a CIDR that lies within a private network as a whole. */
export function isPrivateNetwork(text: string): boolean {
  if (!isAddressOrCidr(text)) return false
  const [address = '', prefix] = text.split('/')
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
  return privateNetworks.some(([network, bits]) => {
    if ((isIP(network) === 4 ? 'ipv4' : 'ipv6') !== family || Number(prefix ?? 128) < bits) return false
    const list = new BlockList()
    list.addSubnet(network, bits, family)
    return list.check(address, family)
  })
}

/** An absolute http or https URL whose path may serve as a prefix: no credentials, query or fragment. */
export function isHttpPrefix(text: string): boolean {
  if (!/^https?:\/\/[^\s\\]+$/.test(text) || !URL.canParse(text)) return false
  const { username, password, search, hash } = new URL(text)
  return username === '' && password === '' && search === '' && hash === ''
}

/** An address of this machine: what is sent there in the clear does not leave it. */
export function isLoopbackUrl(text: string): boolean {
  return /^http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?(?:\/|$)/.test(text)
}

/** A host to listen on that this machine alone reaches. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/.test(host)
}

/** ISO 8601 in UTC, as the API writes every time. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms)
}

/** A host as it stands in a URL and before a port: IPv6 in brackets. */
export function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
