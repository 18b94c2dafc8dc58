/**
 * Word of what changed, by pub/sub, which forgets whoever is not listening just then: each notice has a number, and the
 * heartbeat brings the number of the last one, so that what was missed is known within seconds.
 */
import type { Listener, Notice } from '../contracts/shared-state.js'
import { connect } from './link.js'

/** What was published may be on its way still. */
const underWayMs = 200

export interface NoticeBoard {
  listen(listener: Listener): void
  /** To be told by each heartbeat. */
  revisionIs(revision: number): void
  close(): void
}

/** What is published: with the name under which whoever published it counts who has done with it. */
export type Published = Notice & { readonly answer?: string }

/** @param answer tells whoever waits for it that this node has done what it does about a notice */
export function listenForNotices(url: string, channel: string, answer: (name: string) => void): NoticeBoard {
  const listeners: Listener[] = []
  const tell = (notice: Published) => {
    const done = Promise.allSettled(listeners.map(async (listener) => listener(notice)))
    if (notice.answer !== undefined) done.then(() => answer(notice.answer!))
  }
  /** The number of the last notice; undefined before there was any word of one. */
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
      // Through a reconnection nothing was heard.
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
        // Whatever is wrong with this connection, another one has not.
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
