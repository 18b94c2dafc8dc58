/**
 * Serves the dashboard's built files. Each is an exact route, registered at the start: no request path is ever
 * converted to a file name.
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
/** Placeholder in the page for the nonce of each answer. */
const noncePlace = '__NONCE__'

/**
 * Only our own files run, and the page cannot be framed. The component library writes a few `<style>` elements
 * (variables of its theme, the scroll lock behind a dialog): they carry a nonce, so that markup injected by a stored
 * text could not bring its own styles. Styles set on elements use the CSSOM, which no policy restricts.
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

/** Path below the root to which the root redirects; undefined without a build. */
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
      // Their names contain the hash of their content.
      maxAge: '365d',
      immutable: true,
      setHeaders: (reply) => {
        for (const [name, value] of Object.entries(headers)) reply.setHeader(name, value)
      }
    })
  })
  return true
}
