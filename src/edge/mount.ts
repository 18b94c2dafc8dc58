/** Where an application lies under the prefix of a host's. */
import type { FastifyInstance } from 'fastify'

type Mounted = Pick<FastifyInstance, 'prefix'>

/** What stands before the paths of a scope; never ends in a slash, with which a prefix may be given. */
export function mountOf({ prefix }: Mounted): string {
  return prefix.replace(/\/$/, '')
}

/** @param path or raw target of a request that was routed to this scope */
export function withoutMount(scope: Mounted, path: string): string {
  return path.slice(mountOf(scope).length)
}
