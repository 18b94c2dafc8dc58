/** The prefix under which a host application mounts ours. */
import type { FastifyInstance } from 'fastify'

type Mounted = Pick<FastifyInstance, 'prefix'>

/** The prefix of a scope's paths, without the slash that a host may write at its end. */
export function mountOf({ prefix }: Mounted): string {
  return prefix.replace(/\/$/, '')
}

/** @param path or raw target of a request that was routed to this scope */
export function withoutMount(scope: Mounted, path: string): string {
  return path.slice(mountOf(scope).length)
}
