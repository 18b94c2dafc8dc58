/**
 * What is said of an endpoint under an API that is served, but that no route guards (files, batches, images): nothing is at
 * its address, as at any other, and its clients are told why in the shape that they read.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Dialect } from '../dialects/dialect.js'
import { Fault } from '../errors.js'
import type { Reply } from './exchange.js'
import { speaks } from './pass.js'
import type { ChatProxy } from './proxy.js'
import { faultReply } from './reply.js'

/** The gateway's own API, whose first segment is Ollama's too. */
const own = '/api/v1/'

/**
 * @param path canonical, and of no route
 * @returns undefined where no API is served under its first segment
 */
export function unguarded(
  { table }: ChatProxy,
  path: string,
  headers: IncomingHttpHeaders,
  requestId: string
): Reply | undefined {
  if (path.startsWith(own)) return undefined
  const beside = table.entries.filter((entry) => firstSegment(entry.path) === firstSegment(path))
  const dialect: Dialect | undefined = (beside.find((entry) => speaks(entry.dialect, headers)) ?? beside[0])?.dialect
  if (dialect === undefined) return undefined
  const message =
    'No route guards this endpoint, and nothing is forwarded that is not judged. Where a dialect covers it, a route of its own in the configuration opens it.'
  return faultReply(dialect, new Fault('not_found', { message }), requestId)
}

function firstSegment(path: string): string {
  const end = path.indexOf('/', 1)
  return end < 0 ? path : path.slice(0, end)
}
