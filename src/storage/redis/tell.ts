/** Word to the nodes of a gateway by a process that is none of them: the command. */
import type { Notice } from '../contracts/shared-state.js'
import { RedisLink } from './link.js'

/** Resolves when they were told, or could not be: those ask the storage in time. Never rejects. */
export async function tellNodes({ url, prefix }: { url: string; prefix: string }, notice: Notice): Promise<void> {
  const link = new RedisLink({
    url,
    onChange() {},
    // Not counted among the nodes, whose shares of a limit would shrink.
    beat: async (redis) => void (await redis.ping())
  })
  try {
    await link.open()
    await link.run((redis) => redis.announce(...announcement(prefix, notice)))
  } catch {
    // Nobody hears.
  } finally {
    link.close()
  }
}

/** What `announce` takes: where notices are numbered, where they are heard, and the notice. */
export function announcement(prefix: string, notice: object): [revision: string, channel: string, notice: string] {
  return [`${prefix}revision`, `${prefix}notices`, JSON.stringify(notice)]
}
