/** One MCP server, ready for requests: its route, its upstream, and the tools that are served. */
import type { McpServerSettings } from '../../base/settings.js'
import { mcp } from '../../dialects/mcp.js'
import { mcpToolsOf, type Scope } from '../../identity/scopes.js'
import type { PinKind } from '../../storage/contracts/pins.js'
import { compileGlob, type PathEntry, type Route } from '../request/routes.js'
import { openUpstream, type Upstream } from '../upstream/upstreams.js'

/** A listening stream may be silent for this long; afterwards the client opens another. */
const listenIdleMs = 15 * 60_000
const listenTotalMs = 60 * 60_000

export interface McpServer {
  readonly name: string
  readonly settings: McpServerSettings
  readonly route: Route
  readonly entry: PathEntry
  serves(tool: string): boolean
  /** Calls per minute; undefined: no limit of its own. */
  limitOf(tool: string): number | undefined
}

export function compileServer(settings: McpServerSettings): McpServer {
  const { name, tools, toolLimits } = settings
  const route: Route = {
    ...settings.route,
    dialect: 'mcp',
    spoken: mcp,
    contextKeys: new Set(settings.route.callerContext),
    matches: () => true
  }
  const { path, bodyLimit } = route
  const globs = tools?.map(compileGlob)
  const limits = toolLimits.map(({ glob, perMinute }) => ({ matches: compileGlob(glob), perMinute }))
  return {
    name,
    settings,
    route,
    entry: {
      path,
      parameters: [],
      read: (asked) => (asked === path ? {} : undefined),
      dialect: mcp,
      candidates: [route],
      bodyLimit
    },
    serves: (tool) => globs === undefined || globs.some((matches) => matches(tool)),
    limitOf: (tool) => limits.find(({ matches }) => matches(tool))?.perMinute
  }
}

/** Whether a key may use and see a definition: a key limited to some tools sees those and the instructions. */
export function usableOf(
  { name: server }: McpServer,
  scopes: readonly Scope[]
): (kind: PinKind, name: string) => boolean {
  const globs = mcpToolsOf(scopes, server)?.map(compileGlob)
  return (kind, name) =>
    globs === undefined || kind === 'instructions' || (kind === 'tool' && globs.some((matches) => matches(name)))
}

/** Name of the upstream for listening streams, which has a longer idle time. */
export const listening = (name: string): string => `${name} (listening)`

export function openServers(servers: Iterable<McpServerSettings>): Map<string, Upstream> {
  const opened = new Map<string, Upstream>()
  for (const { name, upstream } of servers) {
    opened.set(name, at(openUpstream(upstream), upstream.url))
    const patient = { ...upstream, idleTimeoutMs: listenIdleMs, totalTimeoutMs: listenTotalMs }
    opened.set(listening(name), at(openUpstream(patient), upstream.url))
  }
  return opened
}

/** The one address of a server, as it is configured. */
function at(upstream: Upstream, url: string): Upstream {
  const { pathname } = new URL(url)
  return { ...upstream, pathOf: () => pathname }
}
