/** Holds the two listeners apart: a start would find the port of the second taken, by itself. */
import { isLoopbackHost } from '../base/units.js'
import type { Environment } from './env.js'
import type { Fail } from './problem.js'
import type { FileConfig } from './schema.js'

export interface Listener {
  host: string
  port: number
}

/** Where a port comes from: a variable, the file, or neither. */
interface Source {
  variable: string | undefined
  path: readonly [string, string] | undefined
  name: string
}

export function checkPorts(
  { server, ops }: { server: Listener; ops: Listener },
  config: Pick<FileConfig, 'server' | 'ops'>,
  environment: Pick<Environment, 'port' | 'opsPort'>,
  { fail, failVariable }: { fail: Fail; failVariable(name: string, reason: string): void }
): void {
  if (server.port !== ops.port || server.port === 0 || !overlap(server.host, ops.host)) return
  const ours = sourceOf('server', 'SLUICEGATE_PORT', environment.port, config.server?.port)
  const theirs = sourceOf('ops', 'SLUICEGATE_OPS_PORT', environment.opsPort, config.ops?.port)
  // Told where somebody wrote it; of two such places, at the operations listener.
  const [at, other] = rank(theirs) >= rank(ours) ? [theirs, ours] : [ours, theirs]
  const reason = `is the port of ${other.name} too (one for each listener; 0 takes a free port)`
  if (at.variable !== undefined) failVariable(at.variable, reason)
  else fail(at.path ?? [], reason)
}

function sourceOf(
  section: 'server' | 'ops',
  variable: string,
  given: number | undefined,
  inFile: number | undefined
): Source {
  const key = `${section}.port`
  if (given !== undefined) return { variable, path: undefined, name: `${key} (${variable})` }
  if (inFile !== undefined) return { variable: undefined, path: [section, 'port'], name: key }
  return { variable: undefined, path: undefined, name: `${key} (its default)` }
}

function rank({ variable, path }: Source): number {
  return variable !== undefined ? 2 : path !== undefined ? 1 : 0
}

/** Whether two hosts share an address: a wildcard takes the port on every one. */
function overlap(one: string, other: string): boolean {
  if (one === other) return true
  const both = [one, other]
  if (both.includes('::') || (both.includes('0.0.0.0') && !both.some((host) => host.includes(':')))) return true
  return both.includes('localhost') && both.every(isLoopbackHost)
}
