/**
 * What is said of paths that no route has, but that a client of a served API may ask for: endpoints that nothing guards
 * (files, batches, images), and operations that are sought beside their place, because a base URL lacks its first segment
 * or has it twice. Nothing is at their address, as at any other; clients are told why in the shape that they read.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { Fault } from '../base/errors.js'
import type { Dialect } from '../dialects/dialect.js'
import type { Reply } from './exchange.js'
import { passAt, speaks } from './pass.js'
import type { ChatProxy } from './proxy.js'
import { faultReply } from './reply.js'
import type { PathEntry, RouteTable } from './routes.js'

/** The gateway's own API, whose first segment is Ollama's too. */
const own = '/api/v1/'

/**
 * @param path canonical, and of no route
 * @param mount what stands before every path that is served
 * @returns undefined where neither an API is served under its first segment nor an operation close by
 */
export function explainUnknown(
  { table }: ChatProxy,
  path: string,
  headers: IncomingHttpHeaders,
  requestId: string,
  mount: string
): Reply | undefined {
  if (path.startsWith(own)) return undefined
  const near = misplaced(table, path, headers)
  if (near !== undefined) {
    const message = `There is nothing at this path; this API is served at ${mount}${near.path}. Check the base URL of the client.`
    return faultReply(near.dialect, new Fault('not_found', { message }), requestId)
  }
  const beside = table.entries.filter((entry) => firstSegment(entry.path) === firstSegment(path))
  const dialect: Dialect | undefined = (beside.find((entry) => speaks(entry.dialect, headers)) ?? beside[0])?.dialect
  if (dialect === undefined) return undefined
  const message =
    'No route guards this endpoint, and nothing is forwarded that is not judged. Where a dialect covers it, a route of its own in the configuration opens it.'
  return faultReply(dialect, new Fault('not_found', { message }), requestId)
}

/** The operation whose path this is, but for a first segment too many or too few; `path` as it is served. */
function misplaced(
  table: RouteTable,
  path: string,
  headers: IncomingHttpHeaders
): Pick<PathEntry, 'path' | 'dialect'> | undefined {
  const first = firstSegment(path)
  const segments = [...new Set(table.entries.map((entry) => firstSegment(entry.path)))]
  for (const candidate of [path.slice(first.length), ...segments.map((segment) => segment + path)]) {
    const entry = table.find(candidate)?.entry
    if (entry !== undefined) return entry
    const pass = passAt(table, candidate, headers)
    if (pass !== undefined) return { path: pass.pass.path, dialect: pass.entry.dialect }
  }
  return undefined
}

function firstSegment(path: string): string {
  const end = path.indexOf('/', 1)
  return end < 0 ? path : path.slice(0, end)
}
