/**
 * Lists every setting that permits more than the product's default, for the log at the start (docs/architecture.md,
 * rule 13).
 */
import type { Settings } from '../base/settings.js'
import { actFor, mediaKinds } from '../base/unscannable.js'
import { defaultEncoderUse } from './encoder.js'

export function weakenings(settings: Settings): string[] {
  const found: string[] = []
  for (const route of settings.routes) {
    const place = `route ${route.id}`
    if (route.mode === 'observe') found.push(`${place}: mode observe (nothing is refused)`)
    if (route.output === 'off') found.push(`${place}: output off (answers are not evaluated)`)
    if (route.onFailure === 'open') found.push(`${place}: on_failure open (forwards what could not be evaluated)`)
    const unseen = mediaKinds.filter((kind) => actFor(route.unscannable, kind) === 'permit')
    if (unseen.length > 0) {
      const which = unseen.length === mediaKinds.length ? 'media' : unseen.join(', ')
      found.push(`${place}: unscannable permit (${which} pass unseen)`)
    }
    if (route.divert !== 'queue') found.push(`${place}: divert to the upstream ${route.divert.upstream} (no review)`)
  }
  for (const { name, route } of Object.values(settings.mcp.servers)) {
    const place = `mcp.servers.${name}`
    if (route.mode === 'observe') found.push(`${place}: mode observe (nothing is refused)`)
    if (route.onFailure === 'open') found.push(`${place}: on_failure open (forwards what could not be evaluated)`)
    if (route.unscannable === 'permit') found.push(`${place}: unscannable permit (media pass unseen)`)
  }
  if (settings.encoder.use === 'off' && defaultEncoderUse !== 'off')
    found.push('encoder: off (the first reader decides alone)')
  if (settings.review.allowOwn) found.push('review.allow_own: a key may decide the reviews that it caused')
  for (const network of settings.server.trustedProxies) {
    if (/\/0+$/.test(network)) found.push(`server.trusted_proxies ${network}: any client may claim any address`)
  }
  for (const network of settings.server.plainHttpSignIn)
    found.push(`server.plain_http_sign_in ${network}: passwords and sign-ins travel in the clear`)
  return found
}
