/**
 * The cookies of people who are signed in. `__Host-` (RFC 6265bis, section 4.1.3.2): only over TLS or on loopback, for this
 * host alone, for every path; no other host of the domain can set or shadow them.
 */

export const sessionCookie = '__Host-sluicegate'
/** Marks a browser in which someone signed in before. */
export const deviceCookie = '__Host-sluicegate-device'
/** What a sign-in elsewhere must come back with. */
export const oidcCookie = '__Host-sluicegate-oidc'

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
  return `${name}=${value}; Path=/; Secure; HttpOnly; SameSite=${sameSite}${age}`
}
