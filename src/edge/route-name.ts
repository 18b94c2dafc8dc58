/** The name of a route in metrics, logs and traces: its path as the OpenAPI document writes it. */
import type { FastifyInstance } from 'fastify'

/** Names every route as it is added: a path in the router's notation would show the patterns of its parameters. */
export function nameRoutes(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, routeName: routeName(route.url) }
  })
}

/** @param url in the router's notation (find-my-way) */
export function routeName(url: string): string {
  let name = ''
  for (let i = 0; i < url.length; ) {
    const [text, parameter] = /^::|^:([A-Za-z_]+)/.exec(url.slice(i, i + 65)) ?? [url[i]!]
    i += text.length
    if (parameter === undefined) name += text === '::' ? ':' : text
    else {
      name += `{${parameter}}`
      i = endOfPattern(url, i)
    }
  }
  // Under a prefix the router registers the exact path with a slash, which clients may not send.
  return name.length > 1 ? name.replace(/\/$/, '') : name
}

/** Behind the brackets that begin at `start`, if any do. */
function endOfPattern(url: string, start: number): number {
  if (url[start] !== '(') return start
  for (let i = start, depth = 0; i < url.length; i++) {
    if (url[i] === '\\') i++
    else if (url[i] === '(') depth++
    else if (url[i] === ')' && --depth === 0) return i + 1
  }
  return url.length
}

declare module 'fastify' {
  interface FastifyContextConfig {
    routeName?: string
  }
}
