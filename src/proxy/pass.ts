/** Pass routes: what a dialect lists as safe to forward with a key and without evaluation (lists of models). */
import type { IncomingHttpHeaders } from 'node:http'
import type { Json } from '../base/chat.js'
import { Fault } from '../base/errors.js'
import type { Dialect, PassPath } from '../dialects/dialect.js'
import { parseJson } from '../json/parse.js'
import type { Cancel } from './cancel.js'
import { refuseCredential } from './credential.js'
import type { Reply } from './exchange.js'
import { readAll, send } from './forward.js'
import { clientHeaders, upstreamHeaders } from './headers.js'
import { type ChatProxy, checkQuery } from './proxy.js'
import { jsonType } from './reply.js'
import type { PathEntry, Route, RouteTable } from './routes.js'

const answerLimit = 16 * 1024 * 1024

export interface PassRequest {
  /** The raw request target, its path checked already. */
  target: string
  headers: IncomingHttpHeaders
  requestId: string
  /** The key that asks. */
  lineage: string
  cancel: Cancel
}

/** Asks the upstream of the dialect's first route. Still strict: JSON or nothing, and never the credential. */
export async function passThrough(
  proxy: ChatProxy,
  { target, headers, requestId, lineage, cancel }: PassRequest
): Promise<Reply> {
  const path = target.split('?', 1)[0]!
  const found = passAt(proxy.table, path, headers)
  if (found === undefined) throw new Fault('not_found')
  const { entry, pass } = found
  const { dialect } = entry
  const answer = await send(proxy.upstreams, catchAll(entry).upstream, {
    method: 'GET',
    path,
    query: checkQuery({ query: pass.query ?? {} }, target),
    headers: (upstream) =>
      upstreamHeaders(dialect, headers, {
        requestId,
        accept: 'application/json',
        length: undefined,
        credential: upstream.credential(dialect),
        propagate: proxy.deps.propagate
      }),
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

/** The route that takes any model knows most of them; where each is for some models only, the first. */
function catchAll({ candidates }: PathEntry): Route {
  return candidates.find(({ match }) => match === undefined) ?? candidates[0]!
}

/** The dialect that clients of a canonical path speak, pass routes included; undefined where no chat route is. */
export function dialectAt({ table }: ChatProxy, path: string): Dialect | undefined {
  return (table.find(path)?.entry ?? passAt(table, path, {})?.entry)?.dialect
}

/**
 * The pass route that a canonical path is. Where two dialects publish the same path (lists of models), the one whose own
 * headers the client sends answers, else the first of the table.
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
  return requestHeaders.some((name) => name in headers) || keyHeaders.some((name) => name in headers)
}

function isPath({ path: pattern, parameter }: PassPath, path: string): boolean {
  const colon = pattern.indexOf(':')
  if (colon === -1) return path === pattern
  return path.startsWith(pattern.slice(0, colon)) && parameter!.test(path.slice(colon))
}
