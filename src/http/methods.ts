import type { FastifyInstance } from 'fastify'

/**
 * Remembers every route as it is added and answers which methods a path takes: what tells 405 from 404, and fills `Allow`
 * (RFC 9110 section 15.5.6). Looked up only where no route matched.
 */
export function methodsByPath(app: FastifyInstance): (path: string) => string | undefined {
  const routes: { pattern: RegExp; methods: string[] }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ pattern: new RegExp(`^${sourceOf(url)}$`), methods: [method].flat() })
  })
  return function allowedMethods(path) {
    const methods = routes.filter(({ pattern }) => pattern.test(path)).flatMap((route) => route.methods)
    return methods.length === 0 ? undefined : [...new Set(methods)].sort().join(', ')
  }
}

/** A doubled colon; a parameter with or without a pattern of its own, whose brackets nest once at most; any other character. */
const piece = /(::)|:[A-Za-z_]+(?:\(\^((?:\((?:\\.|[^()])*\)|\\.|[^()])*)\$\))?|(.)/g

/** The router's notation (find-my-way) as the source of a regular expression. */
function sourceOf(url: string): string {
  return url.replace(piece, (_, colon?: string, pattern?: string, literal?: string) => {
    if (colon !== undefined) return ':'
    return literal === undefined ? `(?:${pattern ?? '[^/]+'})` : literal.replace(/[.*+?^${}()|[\]\\]/, '\\$&')
  })
}
