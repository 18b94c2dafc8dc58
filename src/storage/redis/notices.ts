/**
 * Notices of changes over pub/sub. Since pub/sub loses messages for absent listeners, each notice has a number, and the
 * heartbeat reads the last number, so that a missed notice is detected within seconds.
 */
import type { Listener, Notice } from '../contracts/shared-state.js'
import { connect, RedisLink } from './link.js'

/** Time for a published notice to arrive. */
const underWayMs = 200

export interface NoticeBoard {
  listen(listener: Listener): void
  /** Called by each heartbeat. */
  revisionIs(revision: number): void
  close(): void
}

/** A published notice, with the name under which its publisher counts the answers. */
export type Published = Notice & { readonly answer?: string }

/** @param answer reports that this node has handled a notice */
export function listenForNotices(url: string, channel: string, answer: (name: string) => void): NoticeBoard {
  const listeners: Listener[] = []
  const tell = (notice: Published) => {
    const done = Promise.allSettled(listeners.map(async (listener) => listener(notice)))
    if (notice.answer !== undefined) done.then(() => answer(notice.answer!))
  }
  /** The number of the last notice; undefined before the first one. */
  let heard: number | undefined
  let checking: NodeJS.Timeout | undefined

  const redis = connect(url)
  redis.on('message', (_channel: string, message: string) => {
    const [, number = '', notice = ''] = /^(\d+) (.*)$/s.exec(message) ?? []
    const revision = Number(number)
    tell(heard !== undefined && revision > heard + 1 ? { kind: 'unknown' } : JSON.parse(notice))
    heard = Math.max(heard ?? 0, revision)
  })
  redis.on('ready', () => {
    redis
      .subscribe(channel)
      // Notices were lost during the reconnection.
      .then(() => tell({ kind: 'unknown' }))
      .catch(() => {})
  })
  redis.connect().catch(() => {})

  return {
    listen: (listener) => void listeners.push(listener),
    revisionIs(revision) {
      heard ??= revision
      const before = heard
      if (revision === before || checking !== undefined) return
      checking = setTimeout(() => {
        checking = undefined
        if (heard !== before) return
        heard = revision
        tell({ kind: 'unknown' })
        // Replaced by a new connection after any error.
        redis.disconnect(true)
      }, underWayMs)
      checking.unref()
    },
    close() {
      clearTimeout(checking)
      redis.disconnect()
    }
  }
}

/** Resolves when the nodes got the notice or could not be reached; those poll the storage. Never rejects. */
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
    // No node listens.
  } finally {
    link.close()
  }
}

/** Arguments of `announce`: key of the counter, channel, and notice. */
export function announcement(prefix: string, notice: object): [revision: string, channel: string, notice: string] {
  return [`${prefix}revision`, `${prefix}notices`, JSON.stringify(notice)]
}
