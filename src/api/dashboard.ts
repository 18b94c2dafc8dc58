/**
 * The dashboard's files, as `npm run build` leaves them. Each is an exact route, found when the gateway starts: no path is
 * turned into a file name while requests are served.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import files from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { dashboardPath } from '../edge/edge.js'

/** The same folder from `src/api` and from `dist/api`. */
const built = fileURLToPath(new URL('../../dist/dashboard', import.meta.url))
const access = { posture: 'public' } as const
/** In the place of this word the page carries the nonce of its one answer. */
const noncePlace = '__NONCE__'

/**
 * Nothing but our own files runs, and nobody frames the page. The component library writes a few `<style>` elements (its
 * theme's variables, the lock of the page's scrolling behind a dialog): they carry a nonce, so that markup in a stored
 * text could not bring styles of its own even where it were taken for markup. Styles set on elements go by the CSSOM, which
 * no policy touches.
 */
const policyOf = (nonce: string) =>
  [
    "default-src 'self'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'"
  ].join('; ')

const headers = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()'
}

/** Where whoever comes to the root of the gateway begins, below that root; undefined where there is no build to serve. */
export function dashboardHome(): string | undefined {
  return existsSync(join(built, 'index.html')) ? `${dashboardPath.slice(1)}/#/first-steps` : undefined
}

/** @returns whether there is a build to serve */
export function registerDashboard(app: FastifyInstance): boolean {
  const index = join(built, 'index.html')
  if (!existsSync(index)) return false
  const page = readFileSync(index, 'utf8')
  const send = (reply: FastifyReply) => {
    const nonce = randomBytes(16).toString('base64')
    return reply
      .headers({ ...headers, 'content-security-policy': policyOf(nonce), 'cache-control': 'no-store' })
      .type('text/html; charset=utf-8')
      .serializer(String)
      .send(page.replaceAll(noncePlace, nonce))
  }
  const route = { method: 'GET', config: { access }, schema: { hide: true } } as const
  app.route({ ...route, url: `${dashboardPath}/`, handler: (_request, reply) => send(reply) })
  app.route({
    ...route,
    url: dashboardPath,
    // Relative, so that it holds under the prefix of a host application.
    handler: (_request, reply) => reply.redirect('dashboard/', 308)
  })
  app.register(async (assets) => {
    assets.addHook('onRoute', (asset) => {
      asset.config = { ...asset.config, access }
      asset.schema = { ...asset.schema, hide: true }
    })
    await assets.register(files, {
      root: join(built, 'assets'),
      prefix: `${dashboardPath}/assets/`,
      wildcard: false,
      index: false,
      decorateReply: false,
      preCompressed: true,
      // Their names carry the hash of what is in them.
      maxAge: '365d',
      immutable: true,
      setHeaders: (reply) => {
        for (const [name, value] of Object.entries(headers)) reply.setHeader(name, value)
      }
    })
  })
  return true
}
