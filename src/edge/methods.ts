import type { FastifyInstance } from 'fastify'
import { withoutMount } from './mount.js'

/**
 * Remembers every route as it is added, and answers which methods a path takes. The answer tells 405 from 404 and fills
 * `Allow` (RFC 9110 section 15.5.6). It is looked up only where no route matched.
 * @throws Error, when a route with a pattern in its path is added without `reads`
 */
export function methodsByPath(app: FastifyInstance): (path: string) => string | undefined {
  const routes: { matches: (path: string) => boolean; methods: string[] }[] = []
  app.addHook('onRoute', ({ url, method, config }) => {
    const reads = config?.reads
    const pattern = reads === undefined ? new RegExp(`^${sourceOf(url)}$`) : undefined
    const matches = (path: string) => pattern?.test(path) ?? reads?.(withoutMount(app, path)) !== undefined
    routes.push({ matches, methods: [method].flat() })
  })
  return function allowedMethods(path) {
    const methods = routes.filter(({ matches }) => matches(path)).flatMap((route) => route.methods)
    return methods.length === 0 ? undefined : [...new Set(methods)].sort().join(', ')
  }
}

/** A doubled colon; a parameter; the rest of a path; any other character. */
const piece = /(::)|(:[A-Za-z_]+)|(\*)|(.)/g

/** A path in the router's notation (find-my-way), as the source of a regular expression; patterns are refused. */
function sourceOf(url: string): string {
  if (/[()]/.test(url)) throw new Error(`${url} has a pattern: its route must have reads in its config`)
  return url.replace(piece, (_, colon?: string, parameter?: string, rest?: string, literal?: string) => {
    if (colon !== undefined) return ':'
    if (parameter !== undefined) return '[^/]+'
    return rest === undefined ? literal!.replace(/[.+?^${}|[\]\\]/, '\\$&') : '.*'
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * For a route whose parameters have patterns: undefined where a canonical path, without the host's prefix, is not
     * its own.
     */
    reads?: (path: string) => unknown
  }
}
