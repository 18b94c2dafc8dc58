/** Scopes: docs/api.md, section 3. */
import { Fault } from '../base/errors.js'

/** Scopes of keys. */
export const keyScopes = [
  '*',
  'safety:evaluate',
  'safety:metrics',
  'pdp:adjudicate',
  'constitutions:read',
  'constitutions:write',
  'billing:read',
  'keys:rotate',
  'mcp:call'
] as const
/** Scopes only of people who sign in: no key has them, and `*` does not grant them. */
const personalScopes = ['samples:read'] as const
export const scopes = [...keyScopes, ...personalScopes] as const
/** A part of `mcp:call`: one MCP server, `mcp:call:files`, or some of its tools, `mcp:call:files/read_*`. */
export type McpScope = `mcp:call:${string}`
export type Scope = (typeof scopes)[number] | McpScope
type KeyScope = (typeof keyScopes)[number] | McpScope

const wholeMcp = 'mcp:call'
export const mcpScopePattern = '^mcp:call:[A-Za-z0-9][A-Za-z0-9_.-]{0,63}(/[A-Za-z0-9_./*-]{1,128})?$'
const mcpScope = new RegExp(mcpScopePattern)

/** The list of key scopes for error messages. */
export const keyScopesTold = `${keyScopes.join(', ')}, mcp:call:{server}, mcp:call:{server}/{glob of tools}`

export function mcpScopeOf(server: string): McpScope {
  return `mcp:call:${server}`
}

/** Whether a text is a scope that a key may have. */
export function isScope(text: string): text is KeyScope {
  return (keyScopes as readonly string[]).includes(text) || mcpScope.test(text)
}

/** `*` grants everything that a key may have; nothing but `*` grants `*`. */
export function holds(held: readonly Scope[], needed: Scope): boolean {
  if (held.includes(needed) || (held.includes('*') && isScope(needed))) return true
  return needed.startsWith(`${wholeMcp}:`) && held.includes(wholeMcp)
}

/** Whether a caller passes admission: a part of the scope suffices here, and is enforced where the part is known. */
export function admits(held: readonly Scope[], needed: Scope): boolean {
  return holds(held, needed) || (needed === wholeMcp && held.some((scope) => scope.startsWith(`${wholeMcp}:`)))
}

/** @returns globs of the tools of a server that a key may use; undefined: the whole server; empty: nothing */
export function mcpToolsOf(held: readonly Scope[], server: string): string[] | undefined {
  const whole = mcpScopeOf(server)
  if (holds(held, whole)) return undefined
  return held.flatMap((scope) => (scope.startsWith(`${whole}/`) ? [scope.slice(whole.length + 1)] : []))
}

/** The 403 of docs/api.md, section 2: the message names the scope, `required` and `available` repeat it for machines. */
export function insufficientScope(required: Scope, available: readonly Scope[]): Fault {
  return new Fault('insufficient_scope', {
    message: `This operation needs the scope ${required}.`,
    fields: { required, available: [...available] }
  })
}
