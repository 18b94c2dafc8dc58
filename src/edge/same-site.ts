/**
 * Protects requests with cookies against other sites (CSRF). A request that changes something must carry a header that
 * no form and no image can set. Where the browser names the page that sends it (`Sec-Fetch-Site`, `Origin`), the page
 * must be our own.
 */
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { Fault } from '../base/errors.js'
import { authorityOf } from './http2.js'

/** Any value counts: a page of another origin may send it only with our permission (CORS), and gets none. */
export const csrfHeader = 'x-sluicegate-csrf'

const safeMethods = new Set(['GET', 'HEAD'])

/**
 * @param rule the sentence for the refusal
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

/** @returns a refusal where the browser says that the page of another site sent the request */
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
 * How a sign-in was sent: `safe` over TLS or within this machine, `plain` in the clear where the configuration allows
 * it; or the fault that refuses it.
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
    // Behind a proxy that is not trusted, the client could be anywhere.
    const isDirect = forwarding.every((name) => headers[name] === undefined)
    return isDirect && mayBePlain(peer) ? 'plain' : new Fault('secure_transport_required')
  }
}

/** Headers in which proxies name the client. */
const forwarding = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip'
] as const
