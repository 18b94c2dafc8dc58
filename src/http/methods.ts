import type { FastifyInstance } from 'fastify'

/**
 * Remembers every route as it is added and answers which methods a path takes: what tells 405 from 404, and fills `Allow`
 * (RFC 9110 section 15.5.6). Looked up only where no route matched.
 */
export function methodsByPath(app: FastifyInstance): (path: string) => string | undefined {
  const routes: { pattern: RegExp; methods: string[] }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = new RegExp(`^${url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[A-Za-z_]+/g, '[^/]+')}$`)
    routes.push({ pattern, methods: [method].flat() })
  })
  return function allowedMethods(path) {
    const methods = routes.filter(({ pattern }) => pattern.test(path)).flatMap((route) => route.methods)
    return methods.length === 0 ? undefined : [...new Set(methods)].sort().join(', ')
  }
}
