/**
 * Paths without a chat: pass routes, which a dialect lists as safe to forward with a key and without evaluation (lists
 * of models), and the explained 404 of unknown paths.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Json } from '../../base/chat.js'
import { Fault } from '../../base/errors.js'
import type { Dialect, PassPath } from '../../dialects/dialect.js'
import { parseJson } from '../../json/parse.js'
import { refuseCredential } from '../answer/read.js'
import type { Cancel, Reply } from '../exchange.js'
import { clientHeaders, jsonType } from '../headers.js'
import type { ChatProxy } from '../proxy.js'
import { faultReply } from '../reply.js'
import { checkQuery, type PathEntry, type Route, type RouteTable } from '../request/routes.js'
import { readAll } from '../upstream/send.js'

const answerLimit = 16 * 1024 * 1024

export interface PassRequest {
  /** The raw request target, its path checked already. */
  target: string
  headers: IncomingHttpHeaders
  requestId: string
  /** The calling key. */
  lineage: string
  cancel: Cancel
  /** Called with the upstream before it is asked. */
  asking?(upstream: string): void
}

/** Asks the upstream of the dialect's first route. Still strict: JSON or nothing, and never the credential. */
export async function passThrough(
  proxy: ChatProxy,
  { target, headers, requestId, lineage, cancel, asking }: PassRequest
): Promise<Reply> {
  const path = target.split('?', 1)[0]!
  const found = passAt(proxy.table, path, headers)
  if (found === undefined) throw new Fault('not_found')
  const { entry, pass } = found
  const { dialect } = entry
  const { upstream } = catchAll(entry)
  asking?.(upstream)
  const answer = await proxy.sender.send(upstream, {
    method: 'GET',
    path,
    query: checkQuery({ query: pass.query ?? {} }, target),
    dialect,
    headers,
    requestId,
    accept: 'application/json',
    body: undefined,
    limit: answerLimit,
    streamed: undefined,
    lineage,
    cancel
  })
  const bytes = await readAll(answer, answerLimit)
  if (answer.status >= 300 && answer.status < 400) throw new Fault('upstream_error', { internal: 'a redirect' })
  let value: Json
  try {
    value = parseJson(bytes, { nodes: 1_000_000 })
  } catch (cause) {
    throw new Fault('upstream_error', { cause })
  }
  refuseCredential(answer.key, value)
  return {
    status: answer.status,
    headers: { ...clientHeaders(dialect, answer, undefined), 'content-type': jsonType },
    body: JSON.stringify(value)
  }
}

/** The route that accepts any model, as it knows most of them; without one, the first route. */
function catchAll({ candidates }: PathEntry): Route {
  return candidates.find(({ match }) => match === undefined) ?? candidates[0]!
}

/** The dialect that clients of a canonical path speak, pass routes included; undefined where no chat route is. */
export function dialectAt({ table }: ChatProxy, path: string): Dialect | undefined {
  return (table.find(path)?.entry ?? passAt(table, path, {})?.entry)?.dialect
}

/**
 * The pass route of a canonical path. Where two dialects publish the same path (lists of models), the client's headers
 * choose the dialect, else the first of the table.
 */
export function passAt(
  { entries }: RouteTable,
  path: string,
  headers: IncomingHttpHeaders
): { entry: PathEntry; pass: PassPath } | undefined {
  const found = entries.flatMap((entry) => {
    const pass = entry.dialect.passPaths.find((candidate) => isPath(candidate, path))
    return pass === undefined ? [] : [{ entry, pass }]
  })
  return found.find(({ entry }) => speaks(entry.dialect, headers)) ?? found[0]
}

/** Whether a client sends headers that are a dialect's own. */
export function speaks({ requestHeaders, keyHeaders }: Dialect, headers: IncomingHttpHeaders): boolean {
  return Object.keys(requestHeaders).some((name) => name in headers) || keyHeaders.some((name) => name in headers)
}

function isPath({ path: pattern, parameter }: PassPath, path: string): boolean {
  const colon = pattern.indexOf(':')
  if (colon === -1) return path === pattern
  return path.startsWith(pattern.slice(0, colon)) && parameter!.test(path.slice(colon))
}

/** The gateway's own API, whose first segment is Ollama's too. */
const own = '/api/v1/'

/**
 * A 404 with an explanation, for paths without a route that a client of a served API may request: unguarded endpoints
 * (files, batches, fine-tuning), and operations at a wrong path, because the client's base URL lacks its first segment
 * or has it twice.
 * @param path canonical, and of no route
 * @param mount what stands before every path that is served
 * @returns undefined where no API is served under the first segment and no operation is close
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

/** The operation whose path differs by one first segment only; `path` is the served one. */
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
