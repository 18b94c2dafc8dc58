/** Pass routes: what a dialect lists as safe to forward with a key and without evaluation (lists of models). */
import type { IncomingHttpHeaders } from 'node:http'
import type { Dialect } from '../dialects/dialect.js'
import { Fault } from '../errors.js'
import { parseJson } from '../json/parse.js'
import type { Cancel } from './cancel.js'
import type { Reply } from './exchange.js'
import { readAll, send } from './forward.js'
import { clientHeaders, upstreamHeaders } from './headers.js'
import type { ChatProxy } from './proxy.js'
import { jsonType } from './reply.js'
import type { PathEntry, Route } from './routes.js'

const answerLimit = 16 * 1024 * 1024

export interface PassRequest {
  dialect: Dialect
  path: string
  headers: IncomingHttpHeaders
  requestId: string
  cancel: Cancel
}

/** Asks the upstream of the dialect's first route. Still strict: JSON or nothing, and never the credential. */
export async function passThrough(
  proxy: ChatProxy,
  { dialect, path, headers, requestId, cancel }: PassRequest
): Promise<Reply> {
  const entry = proxy.table.entries.find((candidate) => candidate.dialect === dialect)
  if (entry === undefined) throw new Fault('not_found')
  const answer = await send(proxy.upstreams, catchAll(entry).upstream, {
    method: 'GET',
    path,
    query: '',
    headers: (upstream) =>
      upstreamHeaders(dialect, headers, {
        requestId,
        accept: 'application/json',
        length: undefined,
        credential: upstream.credential(dialect)
      }),
    body: undefined,
    limit: answerLimit,
    streamed: undefined,
    cancel
  })
  const bytes = await readAll(answer, answerLimit)
  if (answer.status >= 300 && answer.status < 400) throw new Fault('upstream_error', { internal: 'a redirect' })
  if (answer.key !== undefined && bytes.includes(answer.key))
    throw new Fault('upstream_error', { internal: 'the answer holds the credential' })
  let body: string
  try {
    body = JSON.stringify(parseJson(bytes, { nodes: 1_000_000 }))
  } catch (cause) {
    throw new Fault('upstream_error', { cause })
  }
  return {
    status: answer.status,
    headers: { ...clientHeaders(dialect, answer.headers), 'content-type': jsonType },
    body
  }
}

/** The route that takes any model knows most of them; where each is for some models only, the first. */
function catchAll({ candidates }: PathEntry): Route {
  return candidates.find(({ match }) => match === undefined) ?? candidates[0]!
}

/** The dialect that clients of a canonical path speak, pass routes included; undefined where no chat route is. */
export function dialectAt({ table }: ChatProxy, path: string): Dialect | undefined {
  const entry = table.find(path)?.entry ?? table.entries.find(({ dialect }) => isPassPath(dialect, path))
  return entry?.dialect
}

/** The dialect's pass path that a canonical path is, or undefined. */
export function isPassPath(dialect: Dialect, path: string): boolean {
  return dialect.passPaths.some(({ path: pattern, parameter }) => {
    const colon = pattern.indexOf(':')
    if (colon === -1) return path === pattern
    return path.startsWith(pattern.slice(0, colon)) && parameter!.test(path.slice(colon))
  })
}
