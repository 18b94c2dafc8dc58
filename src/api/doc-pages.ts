/**
 * Serves the pages of `docs/`, which `npm run build` makes of Markdown. Each is an exact route, registered at the
 * start: no request path is ever converted to a file name.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import files from '@fastify/static'
import type { FastifyInstance } from 'fastify'

/** The same folder from `src/api` and from `dist/api`. */
const built = fileURLToPath(new URL('../../dist/docs', import.meta.url))
const access = { posture: 'public' } as const

export const docPagesIndex = '/docs/index.html'

/** Only text, one style sheet and pictures of our own: no scripts, no framing. */
const headers = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer'
}

/** @returns whether there is a build to serve */
export function registerDocPages(app: FastifyInstance): boolean {
  if (!existsSync(join(built, 'index.html'))) return false
  app.register(async (pages) => {
    pages.addHook('onRoute', (page) => {
      page.config = { ...page.config, access }
      page.schema = { ...page.schema, hide: true }
    })
    await pages.register(files, {
      root: built,
      prefix: '/docs/',
      wildcard: false,
      index: false,
      decorateReply: false,
      setHeaders: (reply) => {
        for (const [name, value] of Object.entries(headers)) reply.setHeader(name, value)
      }
    })
  })
  return true
}
