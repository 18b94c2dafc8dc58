/** What nodes share, in Redis. Nothing here is durable, and nothing that is lost with Redis opens a door. */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Clock } from '../../base/clock.js'
import type { SharedState } from '../contracts/shared-state.js'
import { createLocalShare } from '../local-share.js'
import { createMemoryCounters, grainOf } from '../memory/counters.js'
import { createVersionedSessions, type KeptSession } from '../versioned-sessions.js'
import { RedisLink } from './link.js'
import { listenForNotices, type Published } from './notices.js'
import { announcement } from './tell.js'

/** A node that was not heard of for so long is gone: the others' shares grow. */
const nodeTtlMs = 10_000
/** Who waits for answers looks as often. */
const answersEveryMs = 20
const answerTtlMs = 60_000
const sessionTtlMs = 3_600_000

export interface RedisStateOptions {
  url: string
  /** Before every name, so that gateways that share a Redis do not meet. */
  prefix: string
  clock: Clock
  /** Sessions hold what people wrote. */
  seal: {
    seal(bytes: Uint8Array, belongsTo: string): Buffer
    open(sealed: Uint8Array, belongsTo: string): Buffer
  }
  onChange(up: boolean, reason: string): void
}

export async function openRedisState({ url, prefix, clock, seal, onChange }: RedisStateOptions): Promise<SharedState> {
  const node = randomUUID()
  const names = { nodes: `${prefix}nodes`, revision: `${prefix}revision`, channel: `${prefix}notices` }
  let nodes = 1
  const board = listenForNotices(url, names.channel, (answer) => {
    link.run((redis) => redis.answer(answer, node, answerTtlMs)).catch(() => undefined)
  })
  const link: RedisLink = new RedisLink({
    url,
    onChange,
    async beat(redis) {
      const [count = 1, revision = 0] = await redis.beat(names.nodes, names.revision, node, nodeTtlMs)
      nodes = Math.max(1, count)
      board.revisionIs(revision)
    }
  })
  await link.open()

  const sessionName = (key: string) => `${prefix}session:${key}`
  const sessions = createVersionedSessions(
    {
      async get(key) {
        const found = await link.run((redis) => redis.hmgetBuffer(sessionName(key), 'version', 'session'))
        const [version, sealed] = found
        return { version: Number(version ?? 0), session: sealed == null ? undefined : unseal(sealed, key) }
      },
      async replace(key, version, session) {
        const sealed = seal.seal(Buffer.from(JSON.stringify(session)), `session:${key}`)
        return (await link.run((redis) => redis.replace(sessionName(key), version, sealed, sessionTtlMs))) === 1
      }
    },
    clock
  )
  /** What was sealed with another key is nobody's here, and is replaced. */
  function unseal(sealed: Buffer, key: string): KeptSession | undefined {
    try {
      return JSON.parse(seal.open(sealed, `session:${key}`).toString())
    } catch {
      return undefined
    }
  }

  return {
    counters: createLocalShare({
      isUp: () => link.isUp,
      nodes: () => nodes,
      local: createMemoryCounters({ clock }),
      async take(counter, cost, limit, windowMs) {
        const grain = Math.round(grainOf(limit, windowMs) * 1000)
        const name = `${prefix}limit:${counter}`
        const answer = await link.run((redis) => redis.take(name, cost, limit, windowMs * 1000, grain))
        const [allowed = 0, remaining = 0, resetUs = 0, retryUs = 0] = answer
        return { allowed: allowed === 1, remaining, resetMs: resetUs / 1000, retryMs: retryUs / 1000 }
      }
    }),
    sessions,
    notices: {
      async publish(notice) {
        // Nobody can be told now: the others ask the storage in time, as nodes without Redis do.
        await link.run((redis) => redis.announce(...announcement(prefix, notice))).catch(() => undefined)
      },
      async publishAndWait(notice, mostMs) {
        const answer = `${prefix}answers:${randomUUID()}`
        const published: Published = { ...notice, answer }
        const deadline = performance.now() + mostMs
        const count = () => link.run((redis) => redis.scard(answer))
        try {
          await link.run((redis) => redis.announce(...announcement(prefix, published)))
          while ((await count()) < nodes && performance.now() < deadline) await setTimeout(answersEveryMs)
        } catch {
          // As when nobody can be told.
        }
      },
      listen: board.listen
    },
    status: () => ({ up: link.isUp, nodes }),
    async close() {
      if (link.isUp) await link.run((redis) => redis.zrem(names.nodes, node)).catch(() => undefined)
      board.close()
      link.close()
    }
  }
}
