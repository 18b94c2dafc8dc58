/** Compiles the MCP servers, which inherit the defaults of chat routes. */
import type { McpServerSettings } from '../base/settings.js'
import { parseSize } from '../base/units.js'
import type { Fail } from './problem.js'
import { holdOf, treatment } from './routes.js'
import type { FileConfig } from './schema.js'
import { compileReached } from './upstreams.js'

export function compileMcp(
  file: FileConfig,
  { folder, bodyLimit, fail }: { folder: string; bodyLimit: number; fail: Fail }
): Record<string, McpServerSettings> {
  const servers = Object.entries(file.mcp?.servers ?? {})
  return Object.fromEntries(
    servers.map(([name, server]): [string, McpServerSettings] => {
      const merged = { ...treatment, ...file.defaults, ...server }
      const path = `/mcp/${name}`
      const upstream = compileReached(name, server, folder, (at, reason) =>
        fail(['mcp', 'servers', name, ...at], reason)
      )
      return [
        name,
        {
          name,
          upstream,
          route: {
            id: path,
            method: 'POST',
            path,
            upstreamPath: new URL(server.url).pathname,
            upstream: name,
            match: undefined,
            mode: merged.mode,
            respond: merged.respond,
            output: 'full',
            hold: holdOf({ ...file.defaults?.hold }),
            divert: 'queue',
            onFailure: merged.on_failure,
            unscannable: merged.unscannable,
            redact: [...new Set(merged.redact)],
            constitution: server.constitution ?? file.defaults?.constitution ?? 'mcp',
            constitutionGiven: (server.constitution ?? file.defaults?.constitution) !== undefined,
            callerContext: [...new Set(merged.caller_context)],
            bodyLimit: server.body_limit === undefined ? bodyLimit : (parseSize(server.body_limit) as number)
          },
          headers: server.headers ?? {},
          pin: server.pin ?? 'first_use',
          tools: server.tools,
          toolLimits: Object.entries(server.tool_limits ?? {}).map(([glob, perMinute]) => ({ glob, perMinute })),
          require: [...new Set(server.require)],
          scopes: server.scopes
        }
      ]
    })
  )
}
