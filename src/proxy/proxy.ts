/** The proxy of one configuration: route table, upstreams, and the transport over them. A reload makes a new one. */

import { invalid } from '../base/errors.js'
import type { RouteSettings, UpstreamSettings } from '../base/settings.js'
import type { Dialect } from '../dialects/dialect.js'
import { fillPath } from '../dialects/path.js'
import { defaultAnswerLimit, type ProxyDeps } from './exchange.js'
import { send } from './forward.js'
import type { Transport } from './guard.js'
import { upstreamHeaders } from './headers.js'
import { Sessions } from './realtime/sessions.js'
import { compileRoutes, type RouteTable } from './routes.js'
import { closeUpstreams, openUpstreams, type Upstreams } from './upstreams.js'
import { acceptFor, streamedType } from './wire.js'

export interface ProxySettings {
  routes: readonly RouteSettings[]
  upstreams: Readonly<Record<string, UpstreamSettings>>
}

export interface ChatProxy {
  readonly deps: ProxyDeps
  readonly upstreams: Upstreams
  readonly table: RouteTable
  /** Sends over undici. */
  readonly transport: Transport
  /** Open sessions of the Realtime API. */
  readonly sessions: Sessions
  /** Waits for the exchanges under way. */
  close(): Promise<void>
}

/** @throws Error for routes that contradict each other or name an unknown upstream */
export function createProxy(deps: ProxyDeps, settings: ProxySettings): ChatProxy {
  const table = checkedTable(settings)
  const upstreams = openUpstreams(settings.upstreams)
  const sessions = new Sessions()
  return {
    deps,
    sessions,
    upstreams,
    table,
    transport({ route, inbound, chat }, { upstream, bytes }) {
      return send(upstreams, upstream, {
        method: 'POST',
        path: fillPath(route.upstreamPath, inbound.target.params),
        query: inbound.target.query,
        headers: (target) =>
          upstreamHeaders(route.spoken, inbound.headers, {
            requestId: inbound.requestId,
            accept: acceptFor(route.spoken, chat.stream, inbound.target),
            length: bytes.length,
            credential: target.credential(route.spoken),
            propagate: deps.propagate
          }),
        body: bytes,
        limit: deps.answerLimit ?? defaultAnswerLimit,
        streamed: streamedType(route.spoken, chat.stream, inbound.target),
        lineage: inbound.caller.lineage,
        cancel: inbound.cancel
      })
    },
    async close() {
      await sessions.drain(0)
      await closeUpstreams(upstreams)
    }
  }
}

function checkedTable({ routes, upstreams }: ProxySettings): RouteTable {
  for (const { id, upstream, divert } of routes) {
    for (const name of [upstream, ...(divert === 'queue' ? [] : [divert.upstream])]) {
      if (!Object.hasOwn(upstreams, name)) throw new Error(`routes: ${id} names the unknown upstream ${name}`)
    }
  }
  for (const { name, fallback } of Object.values(upstreams)) {
    const unknown = fallback.find((other) => !Object.hasOwn(upstreams, other))
    if (unknown !== undefined) throw new Error(`upstreams: ${name} names the unknown fallback ${unknown}`)
  }
  return compileRoutes(routes)
}

/**
 * The query string as it may be forwarded.
 * @param target the raw request target, its path checked already
 * @throws Fault `validation_error` for a parameter that the dialect does not list, or lists with another pattern
 */
export function checkQuery(dialect: Pick<Dialect, 'query'>, target: string): string {
  const mark = target.indexOf('?')
  const query = mark === -1 ? '' : target.slice(mark + 1)
  if (query === '') return ''
  const seen = new Set<string>()
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=')
    const name = equals === -1 ? pair : pair.slice(0, equals)
    const field = `query.${name.slice(0, 64)}`
    if (!Object.hasOwn(dialect.query, name))
      throw invalid(field, 'unknown_field', 'This query parameter is not known here.')
    if (seen.has(name)) throw invalid(field, 'duplicate_key', 'This query parameter is given twice.')
    seen.add(name)
    if (equals === -1 || !dialect.query[name]!.test(pair.slice(equals + 1))) {
      throw invalid(field, 'invalid_format', 'The value of this query parameter is not valid.')
    }
  }
  return `?${query}`
}
