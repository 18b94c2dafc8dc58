/** The settings of one MCP server, compiled. */
import type { RouteSettings, UpstreamSettings } from './route-settings.js'

/** `first_use`: the first definition of a tool is valid; `review`: none is valid until a person has permitted it. */
export const pinModes = ['first_use', 'review'] as const
export type PinMode = (typeof pinModes)[number]

/** Annotations that a tool must have to be listed and called. */
export const toolHints = ['read_only', 'not_destructive'] as const
export type ToolHint = (typeof toolHints)[number]

/** Headers that the protocol, the transport or the gateway writes itself. */
export const ownHeader =
  /^(?!(?:accept|accept-encoding|authorization|connection|content-[a-z]+|cookie|host|keep-alive|last-event-id|mcp-.*|te|trailer|transfer-encoding|upgrade|x-request-id)$)[a-z0-9][a-z0-9-]{0,63}$/

export interface McpServerSettings {
  name: string
  upstream: UpstreamSettings
  /** Settings of judging, as on a chat route. */
  route: Omit<RouteSettings, 'dialect'>
  /** Sent along with every message. */
  headers: Readonly<Record<string, string>>
  pin: PinMode
  /** Globs over the names of tools; undefined: all of them. */
  tools: readonly string[] | undefined
  /** Calls per minute of one key, by globs over the names of tools: the first that fits counts. */
  toolLimits: readonly { glob: string; perMinute: number }[]
  require: readonly ToolHint[]
  /** The scopes of which a key needs one, besides `mcp:call`; undefined: none. */
  scopes: readonly string[] | undefined
}
