/**
 * The cookies of people who are signed in. `__Host-` (RFC 6265bis, section 4.1.3.2): only over TLS or on loopback, for this
 * host alone, for every path; no other host of the domain can set or shadow them.
 */
import type { Passage } from './same-site.js'

export interface CookieNames {
  session: string
  /** Marks a browser in which someone signed in before. */
  device: string
  /** State that a sign-in at an identity provider must bring back. */
  oidc: string
}

const safe: CookieNames = {
  session: '__Host-sluicegate',
  device: '__Host-sluicegate-device',
  oidc: '__Host-sluicegate-oidc'
}
/**
 * Browsers accept no `__Host-` cookie over plain HTTP. Separate names, so that a cookie sent in the clear never counts
 * over TLS.
 */
const plain: CookieNames = {
  session: 'sluicegate-plain',
  device: 'sluicegate-plain-device',
  oidc: 'sluicegate-plain-oidc'
}

/** Names of the cookies that a request may use. */
export function cookiesOf(passage: Passage): CookieNames {
  return passage === 'plain' ? plain : safe
}

/** The value of a cookie; undefined where it is absent or given twice. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const values = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
  return values.length === 1 && values[0] !== '' ? values[0] : undefined
}

/**
 * @param maxAgeSeconds 0 removes it; undefined: as long as the browser runs
 * @param sameSite `Lax` only for what must survive the way back from another site
 */
export function writeCookie(
  name: string,
  value: string,
  { maxAgeSeconds, sameSite = 'Strict' }: { maxAgeSeconds?: number; sameSite?: 'Strict' | 'Lax' } = {}
): string {
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`
  const secure = name.startsWith('__Host-') ? '; Secure' : ''
  return `${name}=${value}; Path=/${secure}; HttpOnly; SameSite=${sameSite}${age}`
}
