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
  const refuse = (why: string) => new Fault('cross_site_request', { message: `${rule}: ${why}.` })
  const site = headers['sec-fetch-site']
  // `none`: typed or bookmarked by the person.
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return refuse(`Sec-Fetch-Site is ${shown(site)}`)
  const { origin } = headers
  if (origin !== undefined && hostOf(origin) !== authorityOf(headers)) return refuse('Origin is another')
  if (!safeMethods.has(method) && headers[csrfHeader] === undefined)
    return refuse(`the header ${csrfHeader} is missing`)
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
 * Passwords and sign-ins travel over TLS, or not past this machine.
 * @param isTrusted whether the peer is a proxy whose `x-forwarded-proto` is believed
 */
export function insecureFault(
  { socket, headers }: IncomingMessage,
  isTrusted: (address: string) => boolean
): Fault | undefined {
  if ((socket as Partial<TLSSocket>).encrypted === true) return undefined
  const peer = socket.remoteAddress ?? ''
  if (isTrusted(peer)) {
    if (headers['x-forwarded-proto'] === 'https') return undefined
  } else if (loopbackAddress.test(peer) && loopbackHost.test(authorityOf(headers) ?? '')) return undefined
  return new Fault('secure_transport_required')
}
