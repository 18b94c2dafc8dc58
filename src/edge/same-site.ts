/**
 * What a browser may do with its cookies here. Another site can make a browser send a request with them (CSRF): so a
 * request that acts carries a header that no form and no image can set, and where the browser says whose page it is
 * (`Sec-Fetch-Site`, `Origin`) that must be our own.
 */
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { Fault } from '../base/errors.js'
import { authorityOf } from './http2.js'

/** Any value; a page of another origin would need our leave to send it (CORS), which nobody gets. */
export const csrfHeader = 'x-sluicegate-csrf'

const safeMethods = new Set(['GET', 'HEAD'])

/**
 * @param rule what is said where it is broken
 * @returns a refusal of a request that another site may have caused
 */
export function crossSiteFault(
  { method = '', headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  rule = 'A request with the cookie of a sign-in must come from this site'
): Fault | undefined {
  const foreign = originFault({ headers }, rule)
  if (foreign !== undefined) return foreign
  if (!safeMethods.has(method) && headers[csrfHeader] === undefined)
    return new Fault('cross_site_request', { message: `${rule}: the header ${csrfHeader} is missing.` })
  return undefined
}

/** @returns a refusal of a request of which the browser says that the page of another site makes it */
export function originFault({ headers }: Pick<IncomingMessage, 'headers'>, rule: string): Fault | undefined {
  const refuse = (why: string) => new Fault('cross_site_request', { message: `${rule}: ${why}.` })
  const site = headers['sec-fetch-site']
  // `none`: typed or bookmarked by the person.
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return refuse(`Sec-Fetch-Site is ${shown(site)}`)
  const { origin } = headers
  if (origin !== undefined && hostOf(origin) !== authorityOf(headers)) return refuse('Origin is another')
  return undefined
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}

function shown(value: string | string[]): string {
  return ['cross-site', 'same-site'].includes(String(value)) ? String(value) : 'unknown'
}

const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i
const loopbackAddress = /^(?:127\.|::1$|::ffff:127\.)/

/**
 * How a sign-in comes: `safe` over TLS or not past this machine, `plain` in the clear where the configuration lets it; or
 * why it is refused.
 */
export type Passage = 'safe' | 'plain' | Fault

type Matcher = (address: string) => boolean

/**
 * @param isTrusted whether the peer is a proxy whose `x-forwarded-proto` is believed
 * @param mayBePlain whether the peer stands in a network from which people may sign in without TLS
 */
export function createPassage(isTrusted: Matcher, mayBePlain: Matcher): (request: IncomingMessage) => Passage {
  return ({ socket, headers }) => {
    if ((socket as Partial<TLSSocket>).encrypted === true) return 'safe'
    const peer = socket.remoteAddress ?? ''
    if (isTrusted(peer))
      return headers['x-forwarded-proto'] === 'https' ? 'safe' : new Fault('secure_transport_required')
    if (loopbackAddress.test(peer) && loopbackHost.test(authorityOf(headers) ?? '')) return 'safe'
    // A proxy between could stand anywhere, and so could whoever is behind it.
    const isDirect = forwarding.every((name) => headers[name] === undefined)
    return isDirect && mayBePlain(peer) ? 'plain' : new Fault('secure_transport_required')
  }
}

/** What proxies write about whom they speak for. */
const forwarding = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip'
] as const
